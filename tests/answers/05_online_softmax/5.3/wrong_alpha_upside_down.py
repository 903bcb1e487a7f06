# expects: n = 4, block_size = 4
# expects: alpha is not between 0 and 1: is it an exponential, and which of the two maxima is the larger?
# Exercise 5.3
def online_softmax(x, block_size):
    """The factor grows where it should shrink."""

    m_i, l_i = -np.inf, 0.0
    for offs in blocks(x.size, block_size):
        block = x[offs]
        m_new = max(m_i, block.max())
        shift = m_new if m_new > -np.inf else 0.0
        alpha = np.exp(shift - m_i)
        p = np.exp(block - shift)
        l_i = l_i * alpha + p.sum()
        m_i = m_new
    return m_i, l_i
