# expects: n = 7, block_size = 4
# expects: The number of blocks is rounded up
# Exercise 5.5
def softmax_two_passes(x, block_size, out):
    """The second pass drops the tail."""

    m, l = online_softmax(x, block_size)
    for k in range(x.size // block_size):
        offs = slice(k * block_size, (k + 1) * block_size)
        out[offs] = np.exp(x[offs] - m) / l
