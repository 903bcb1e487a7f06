# Exercise 5.2
def softmax_three_passes(x, block_size, out):
    """The blocks from the last to the first, one score at a time in between."""

    starts = list(range(0, x.size, block_size))[::-1]
    m = max(float(score) for start in starts for score in x[start : start + block_size])
    l = sum(np.exp(x[start : start + block_size].astype(np.float64) - m).sum() for start in starts)
    for start in starts:
        out[start : start + block_size] = np.exp(x[start : start + block_size] - np.float32(m)) / np.float32(l)
