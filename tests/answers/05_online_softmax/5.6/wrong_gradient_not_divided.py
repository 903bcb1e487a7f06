# expects: n = 4, block_size = 4
# expects: of gradient differ
# expects: (lse is right.)
# expects: look for a missing or a second factor
# Exercise 5.6
def logsumexp(x, block_size):
    """exp(x - m) has a sum of l."""

    m, l = online_softmax(x, block_size)
    lse = m + np.log(l)
    gradient = np.exp(x - m)
    return lse, gradient.astype(x.dtype)
