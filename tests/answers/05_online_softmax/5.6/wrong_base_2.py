# expects: n = 4, block_size = 4
# expects: lse is
# Exercise 5.6
def logsumexp(x, block_size):
    """log2 beside exp."""

    m, l = online_softmax(x, block_size)
    lse = m + np.log2(l)
    gradient = np.exp(x - lse)
    return lse, gradient.astype(x.dtype)
