# expects: all threads take the if
# expects: 1280, expected 40
# expects: Those are threads
# Exercise 3.1
def branch_instructions(takes_if, n_if, n_else):
    """How many instructions the warps issue for both sides of a branch. takes_if: [warps, 32]."""
    some_if = takes_if
    some_else = (~takes_if)

    return n_if * some_if.sum() + n_else * some_else.sum()
