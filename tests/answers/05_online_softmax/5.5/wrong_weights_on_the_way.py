# expects: n = 8, block_size = 4
# expects: values differ
# Exercise 5.5
def softmax_two_passes(x, block_size, out):
    """One pass: weights are written with the statistics so far."""

    m_i, l_i = -np.inf, 0.0
    for offs in blocks(x.size, block_size):
        block = x[offs]
        m_new = max(m_i, block.max())
        shift = m_new if m_new > -np.inf else 0.0
        l_i = l_i * np.exp(m_i - shift) + np.exp(block - shift).sum()
        m_i = m_new
        out[offs] = np.exp(block - shift) / max(l_i, 1e-30)
