# expects: NumPy warns in line
# expects: inf was subtracted from inf, or -inf from -inf
# Exercise 5.3
def online_softmax(x, block_size):
    """The warnings of -inf - (-inf) switched off, and nan taken for 0: l is right, but a block that ends masked is lost."""

    m_i, l_i = -np.inf, 0.0
    for offs in blocks(x.size, block_size):
        block = x[offs]
        m_new = max(m_i, block.max())
        l_i = np.nan_to_num(l_i * np.exp(m_i - m_new) + np.exp(block - m_new).sum())
        m_i = m_new
    return m_i, l_i
