# Exercise 5.5
def softmax_two_passes(x, block_size, out):
    """exp(x - L) with L = m + log l, from the last block to the first."""

    m, l = online_softmax(x, block_size)
    lse = float(m) + float(np.log(l)) if l > 0 else 0.0
    for start in reversed(range(0, x.size, block_size)):
        offs = slice(start, start + block_size)
        out[offs] = np.exp(x[offs].astype(np.float64) - lse)
