# expects: 14, expected 40
# expects: changed places
# Exercise 3.1
def branch_instructions(takes_if, n_if, n_else):
    """How many instructions the warps issue for both sides of a branch. takes_if: [warps, 32]."""
    some_if = takes_if.any(axis=1)
    some_else = (~takes_if).any(axis=1)

    return n_else * some_if.sum() + n_if * some_else.sum()
