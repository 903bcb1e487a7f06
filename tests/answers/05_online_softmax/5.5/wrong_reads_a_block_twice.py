# expects: The values are right, but
# expects: (4 for each of the input, not 3)
# expects: Load each block once
# Exercise 5.5
def softmax_two_passes(x, block_size, out):
    """A third read: each block is loaded twice in the second pass."""

    m, l = online_softmax(x, block_size)
    if l == 0:
        m, l = 0.0, 1.0
    for offs in blocks(x.size, block_size):
        out[offs] = np.where(x[offs] > -np.inf, np.exp(x[offs] - m) / l, 0)
