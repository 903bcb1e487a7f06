# expects: n = 2000
# expects: Keep one block at a time
# Exercise 5.2
def softmax_three_passes(x, block_size, out):
    """Loads the whole row: it does not fit into fast memory."""

    row = x[:]
    p = np.exp(row - row.max())
    out[:] = p / p.sum()
