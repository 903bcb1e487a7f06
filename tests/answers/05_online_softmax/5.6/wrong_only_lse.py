# expects: returns 1 value, expected (lse, gradient)
# Exercise 5.6
def logsumexp(x, block_size):
    """The gradient is forgotten."""

    m, l = online_softmax(x, block_size)
    return m + np.log(l)
