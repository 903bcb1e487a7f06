# expects: large
# expects: overflow encountered in exp
# Exercise 5.1
def safe_softmax(x):
    """The smallest score instead of the largest."""

    p = np.exp(x - x.min())
    return p / p.sum()
