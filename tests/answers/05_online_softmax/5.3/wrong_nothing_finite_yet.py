# expects: -inf first
# expects: inf was subtracted from inf, or -inf from -inf
# expects: begin with -inf
# Exercise 5.3
def online_softmax(x, block_size):
    """-inf - (-inf) where a row begins with masked scores."""

    m_i, l_i = -np.inf, 0.0
    for offs in blocks(x.size, block_size):
        block = x[offs]
        m_new = max(m_i, block.max())
        shift = m_new
        alpha = np.exp(m_i - shift)
        p = np.exp(block - shift)
        l_i = l_i * alpha + p.sum()
        m_i = m_new
    return m_i, l_i
