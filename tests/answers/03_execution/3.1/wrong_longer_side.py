# expects: one after the other
# Exercise 3.1
def branch_instructions(takes_if, n_if, n_else):
    """How many instructions the warps issue for both sides of a branch. takes_if: [warps, 32]."""
    some_if = takes_if.any(axis=1)
    some_else = (~takes_if).any(axis=1)

    return np.maximum(n_if * some_if, n_else * some_else).sum()
