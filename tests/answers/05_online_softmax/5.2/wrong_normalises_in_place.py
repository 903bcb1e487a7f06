# expects: The values are right, but
# expects: Load each block once
# Exercise 5.2
def softmax_three_passes(x, block_size, out):
    """Writes the exponentials, reads them back, writes the weights: two writes."""

    m = -np.inf
    for offs in blocks(x.size, block_size):
        m = max(m, x[offs].max())
    l = 0.0
    for offs in blocks(x.size, block_size):
        out[offs] = np.exp(x[offs] - m)
        l += out[offs].sum()
    for offs in blocks(x.size, block_size):
        out[offs] = out[offs] / l
