# expects: n = 4, block_size = 4
# expects: lse is
# Exercise 5.6
def logsumexp(x, block_size):
    """log l without m."""

    m, l = online_softmax(x, block_size)
    lse = np.log(l)
    gradient = np.exp(x - m - lse)
    return lse, gradient.astype(x.dtype)
