# expects: n = 8, block_size = 4
# expects: A row of one block is right, a row of several is not
# Exercise 5.2
def softmax_three_passes(x, block_size, out):
    """Each block its own softmax, side by side."""

    for offs in blocks(x.size, block_size):
        block = x[offs]
        p = np.exp(block - block.max())
        out[offs] = p / p.sum()
