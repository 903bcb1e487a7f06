# expects: l is 0 after the first block
# expects: Which of the two parts may it multiply?
# Exercise 5.3
def online_softmax(x, block_size):
    """m = max(x) and l = Σ exp(x − m), in one pass; reads n."""
    m_i, l_i = -np.inf, 0.0
    for offs in blocks(x.size, block_size):
        block = x[offs]

        m_new = max(m_i, block.max())
        shift = m_new if m_new > -np.inf else 0.0  # in every exponential, use this in place of m_new

        alpha = np.exp(m_i - shift)
        p = np.exp(block - shift)

        l_i = alpha * (l_i + p.sum())
        m_i = m_new
    return m_i, l_i
