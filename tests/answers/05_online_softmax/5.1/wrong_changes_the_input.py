# expects: changed its input x
# Exercise 5.1
def safe_softmax(x):
    """Right weights, but x is no longer what it was."""

    x -= x.max()
    p = np.exp(x)
    return p / p.sum()
