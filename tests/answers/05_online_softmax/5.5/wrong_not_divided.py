# expects: look for a missing or a second factor
# Exercise 5.5
def softmax_two_passes(x, block_size, out):
    """The weights do not add up to 1."""

    m, l = online_softmax(x, block_size)
    if l == 0:
        m = 0.0
    for offs in blocks(x.size, block_size):
        out[offs] = np.exp(x[offs] - m)
