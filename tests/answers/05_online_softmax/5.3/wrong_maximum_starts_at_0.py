# expects: m is 0, expected -
# expects: does a maximum start from 0?
# Exercise 5.3
def online_softmax(x, block_size):
    """No score of -200 gets above a maximum that starts at 0."""

    m_i, l_i = 0.0, 0.0
    for offs in blocks(x.size, block_size):
        block = x[offs]
        m_new = max(m_i, block.max())
        shift = m_new if m_new > -np.inf else 0.0
        alpha = np.exp(m_i - shift)
        p = np.exp(block - shift)
        l_i = l_i * alpha + p.sum()
        m_i = m_new
    return m_i, l_i
