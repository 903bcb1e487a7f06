# expects: only thread 31
# expects: One thread of a warp is enough
# Exercise 3.1
def branch_instructions(takes_if, n_if, n_else):
    """How many instructions the warps issue for both sides of a branch. takes_if: [warps, 32]."""
    some_if = takes_if.mean(axis=1) > 0.4
    some_else = (~takes_if).any(axis=1)

    return n_if * some_if.sum() + n_else * some_else.sum()
