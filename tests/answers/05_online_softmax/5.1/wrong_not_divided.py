# expects: n = 8
# expects: look for a missing or a second factor
# Exercise 5.1
def safe_softmax(x):
    """Shifted, but the weights do not add up to 1."""

    return np.exp(x - x.max())
