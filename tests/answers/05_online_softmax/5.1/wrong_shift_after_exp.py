# expects: overflow encountered in exp
# Exercise 5.1
def safe_softmax(x):
    """e^x / e^m is e^(x - m) only where both are finite."""

    p = np.exp(x) / np.exp(x.max())
    return p / p.sum()
