# expects: n = 4, block_size = 4
# expects: l is 0, expected
# expects: (m is right.)
# Exercise 5.3
def online_softmax(x, block_size):
    """alpha on the whole sum."""

    m_i, l_i = -np.inf, 0.0
    for offs in blocks(x.size, block_size):
        block = x[offs]
        m_new = max(m_i, block.max())
        shift = m_new if m_new > -np.inf else 0.0
        alpha = np.exp(m_i - shift)
        p = np.exp(block - shift)
        l_i = (l_i + p.sum()) * alpha
        m_i = m_new
    return m_i, l_i
