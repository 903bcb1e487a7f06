# expects: n = 4, block_size = 4
# expects: of gradient differ
# expects: (lse is right.)
# Exercise 5.6
def logsumexp(x, block_size):
    """1 at the largest score, 0 elsewhere."""

    m, l = online_softmax(x, block_size)
    lse = m + np.log(l)
    gradient = (x == m) * 1.0
    return lse, gradient.astype(x.dtype)
