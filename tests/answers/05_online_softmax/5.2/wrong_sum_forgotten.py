# expects: `l` is an array
# expects: is a sum missing?
# Exercise 5.2
def softmax_three_passes(x, block_size, out):
    """out = softmax(x), in three passes over x."""
    m = -np.inf
    for offs in blocks(x.size, block_size):
        m = max(m, x[offs].max())

    l = 0.0
    for offs in blocks(x.size, block_size):
        l += np.exp(x[offs] - m)

    for offs in blocks(x.size, block_size):
        out[offs] = np.exp(x[offs] - m) / l
