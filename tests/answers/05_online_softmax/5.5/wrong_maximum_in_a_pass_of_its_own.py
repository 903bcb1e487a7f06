# expects: (4 for each of the input, not 3)
# Exercise 5.5
def softmax_two_passes(x, block_size, out):
    """Right, but a third pass looks for the maximum that the first one found."""

    _, l = online_softmax(x, block_size)
    m = -np.inf
    for offs in blocks(x.size, block_size):
        m = max(m, x[offs].max())
    if l == 0:
        m, l = 0.0, 1.0

    for offs in blocks(x.size, block_size):
        out[offs] = np.exp(x[offs] - m) / l
