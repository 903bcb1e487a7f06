# expects: n = 4, block_size = 4
# expects: values differ
# Exercise 5.5
def softmax_two_passes(x, block_size, out):
    """The sum belongs to shifted exponentials, these are not shifted."""

    m, l = online_softmax(x, block_size)
    for offs in blocks(x.size, block_size):
        out[offs] = np.exp(x[offs]) / max(l, 1.0)
