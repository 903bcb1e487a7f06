# expects: n = 8, block_size = 4
# expects: A row of one block is right, a row of several is not
# Exercise 5.5
def softmax_two_passes(x, block_size, out):
    """Each block is normalised by itself."""

    for offs in blocks(x.size, block_size):
        block = x[offs]
        m, l = online_softmax(block, block_size)
        out[offs] = np.exp(block - m) / l if l else 0.0
