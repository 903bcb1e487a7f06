# expects: large
# expects: overflow encountered in exp
# Exercise 5.1
def safe_softmax(x):
    """The mean is not above every score."""

    p = np.exp(x - x.mean())
    return p / p.sum()
