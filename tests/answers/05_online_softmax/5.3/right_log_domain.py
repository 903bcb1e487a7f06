# Exercise 5.3
def online_softmax(x, block_size):
    """Keeps the log-sum-exp instead of l, in base 2, from the last block to the first."""

    m, lse = -np.inf, -np.inf
    for start in reversed(range(0, x.size, block_size)):
        block = x[start : start + block_size].astype(np.float64)
        m = max(m, float(block.max()))
        lse = np.logaddexp2(lse, np.logaddexp2.reduce(block / np.log(2.0)))
    return m, (float(np.exp2(lse - m / np.log(2.0))) if m > -np.inf else 0.0)
