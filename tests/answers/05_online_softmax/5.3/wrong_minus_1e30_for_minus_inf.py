# expects: all -inf
# expects: m is -1e+30, expected -inf
# expects: what should come out?
# Exercise 5.3
def online_softmax(x, block_size):
    """A large negative number instead of -inf: a row of -inf gets it as its maximum."""

    m_i, l_i = -1e30, 0.0
    for offs in blocks(x.size, block_size):
        block = x[offs]
        m_new = max(m_i, block.max())
        shift = m_new if m_new > -np.inf else 0.0
        alpha = np.exp(m_i - shift)
        p = np.exp(block - shift)
        l_i = l_i * alpha + p.sum()
        m_i = m_new
    return m_i, l_i
