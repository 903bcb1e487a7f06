# expects: n = 8, block_size = 4
# expects: 8 elements of x are loaded at once, and fast memory has room for a block of 4
# Exercise 5.2
def softmax_three_passes(x, block_size, out):
    """Loads the whole row: it does not fit into fast memory."""

    row = x[:]
    p = np.exp(row - row.max())
    out[:] = p / p.sum()
