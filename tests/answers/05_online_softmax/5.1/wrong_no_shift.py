# expects: `p = np.exp(x)`: overflow encountered in exp
# expects: what must be subtracted before it is taken?
# Exercise 5.1
def safe_softmax(x):
    """No shift: the formula as it stands."""

    p = np.exp(x)
    return p / p.sum()
