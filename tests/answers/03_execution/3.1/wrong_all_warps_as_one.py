# expects: two warps
# expects: taken for one
# Exercise 3.1
def branch_instructions(takes_if, n_if, n_else):
    """How many instructions the warps issue for both sides of a branch. takes_if: [warps, 32]."""
    some_if = takes_if.any()
    some_else = (~takes_if).any()

    return n_if * some_if.sum() + n_else * some_else.sum()
