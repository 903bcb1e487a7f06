# expects: n = 4, block_size = 4
# expects: lse is
# Exercise 5.6
def logsumexp(x, block_size):
    """l itself instead of its logarithm."""

    m, l = online_softmax(x, block_size)
    lse = m + l
    gradient = np.exp(x - m) / l
    return lse, gradient.astype(x.dtype)
