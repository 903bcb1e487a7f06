# expects: one huge
# expects: overflow encountered in exp
# expects: what becomes of what was added up before it?
# Exercise 5.2
def softmax_three_passes(x, block_size, out):
    """m forgets the blocks before."""

    m = -np.inf
    for offs in blocks(x.size, block_size):
        m = x[offs].max()
    l = 0.0
    for offs in blocks(x.size, block_size):
        l += np.exp(x[offs] - m).sum()
    for offs in blocks(x.size, block_size):
        out[offs] = np.exp(x[offs] - m) / l
