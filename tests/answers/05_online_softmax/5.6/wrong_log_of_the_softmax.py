# expects: of gradient differ
# expects: (lse is right.)
# Exercise 5.6
def logsumexp(x, block_size):
    """The logarithm of the gradient."""

    m, l = online_softmax(x, block_size)
    lse = m + np.log(l)
    gradient = x - lse
    return lse, gradient.astype(x.dtype)
