# expects: n = 8, block_size = 4
# expects: look for a missing or a second factor
# Exercise 5.2
def softmax_three_passes(x, block_size, out):
    """l forgets the blocks before."""

    m = -np.inf
    for offs in blocks(x.size, block_size):
        m = max(m, x[offs].max())
    l = 0.0
    for offs in blocks(x.size, block_size):
        l = np.exp(x[offs] - m).sum()
    for offs in blocks(x.size, block_size):
        out[offs] = np.exp(x[offs] - m) / l
