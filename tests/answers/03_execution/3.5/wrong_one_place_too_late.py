# expects: has shape (0,), expected (1,)
# expects: with which place does the second half begin?
# Exercise 3.5
def tree_levels(x):
    """The partial sums of every level of the tree, [n - 1]; the last one is the sum of x."""
    levels = []
    while len(x) > 1:
        half = len(x) // 2  # so many threads add on this level
        x = x[:half] + x[half + 1:]
        levels.append(x)
    return np.concatenate(levels)
