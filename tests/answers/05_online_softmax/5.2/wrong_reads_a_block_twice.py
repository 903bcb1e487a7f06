# expects: The values are right, but
# expects: (5 for each of the input, not 4)
# expects: Load each block once
# Exercise 5.2
def softmax_three_passes(x, block_size, out):
    """Each block of the last pass is loaded twice."""

    m = -np.inf
    for offs in blocks(x.size, block_size):
        m = max(m, x[offs].max())
    l = 0.0
    for offs in blocks(x.size, block_size):
        l += np.exp(x[offs] - m).sum()
    for offs in blocks(x.size, block_size):
        out[offs] = np.exp(x[offs] - m) / l if np.isfinite(x[offs]).any() else 0.0
