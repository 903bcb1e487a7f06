# expects: n = 7, block_size = 4
# expects: look at the last block, the shorter one
# Exercise 5.3
def online_softmax(x, block_size):
    """n // block_size blocks: the tail is dropped."""

    m_i, l_i = -np.inf, 0.0
    for k in range(max(1, x.size // block_size)):
        block = x[k * block_size : (k + 1) * block_size]
        m_new = max(m_i, block.max())
        shift = m_new if m_new > -np.inf else 0.0
        l_i = l_i * np.exp(m_i - shift) + np.exp(block - shift).sum()
        m_i = m_new
    return m_i, l_i
