# expects: n = 8, block_size = 4
# expects: 8 elements of x are loaded at once, and fast memory has room for a block of 4
# Exercise 5.5
def softmax_two_passes(x, block_size, out):
    """Loads the whole row in the second pass."""

    m, l = online_softmax(x, block_size)
    if l == 0:
        m, l = 0.0, 1.0
    out[:] = np.exp(x[:] - m) / l
