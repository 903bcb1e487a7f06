# expects: large negatives
# expects: did every exponential vanish
# Exercise 5.2
def softmax_three_passes(x, block_size, out):
    """Two passes without a maximum: fewer reads, and it overflows."""

    l = 0.0
    for offs in blocks(x.size, block_size):
        l += np.exp(x[offs]).sum()
    for offs in blocks(x.size, block_size):
        out[offs] = np.exp(x[offs]) / l
