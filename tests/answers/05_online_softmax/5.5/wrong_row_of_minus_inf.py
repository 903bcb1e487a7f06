# expects: all -inf
# expects: -inf from -inf
# expects: what should come out?
# Exercise 5.5
def softmax_two_passes(x, block_size, out):
    """-inf - (-inf) in a row that has nothing to attend to."""

    m, l = online_softmax(x, block_size)
    for offs in blocks(x.size, block_size):
        out[offs] = np.exp(x[offs] - m) / l
