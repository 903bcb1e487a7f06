# expects: large negatives
# expects: This is the logarithm of 0: did every exponential vanish?
# Exercise 5.6
def logsumexp(x, block_size):
    """The logarithm of a sum that overflows or vanishes."""

    lse = np.log(np.exp(x).sum())
    gradient = np.exp(x - lse)
    return lse, gradient.astype(x.dtype)
