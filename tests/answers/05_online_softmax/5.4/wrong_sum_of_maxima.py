# expects: m is 13, expected 9
# Exercise 5.4
def merge(a, b):
    """The maximum of two parts is no sum."""
    (m_a, l_a, acc_a), (m_b, l_b, acc_b) = a, b
    m_new = m_a + m_b
    shift = m_new if m_new > -np.inf else 0.0
    alpha_a = np.exp(m_a - shift)
    alpha_b = np.exp(m_b - shift)
    l = alpha_a * l_a + alpha_b * l_b
    acc = alpha_a * acc_a + alpha_b * acc_b
    return m_new, l, acc
