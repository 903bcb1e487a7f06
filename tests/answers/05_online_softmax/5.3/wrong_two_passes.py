# expects: The values are right, but
# expects: (2 for each of the input, not 1)
# expects: Load each block once
# Exercise 5.3
def online_softmax(x, block_size):
    """The maximum first, then the sum: two reads."""

    m = max(x[offs].max() for offs in blocks(x.size, block_size))
    shift = m if m > -np.inf else 0.0
    return m, sum(np.exp(x[offs] - shift).sum() for offs in blocks(x.size, block_size))
