# expects: n = 8
# expects: look for a missing or a second factor
# Exercise 5.1
def safe_softmax(x):
    """Divided by the number of scores instead of the sum."""

    p = np.exp(x - x.max())
    return p / p.size
