# expects: the second has the larger maximum
# expects: l is
# expects: (m is right.)
# Exercise 5.4
def merge(a, b):
    """The factors grow where they should shrink."""
    (m_a, l_a, acc_a), (m_b, l_b, acc_b) = a, b
    m_new = max(m_a, m_b)
    shift = m_new if m_new > -np.inf else 0.0
    alpha_a = np.exp(shift - m_a)
    alpha_b = np.exp(shift - m_b)
    l = alpha_a * l_a + alpha_b * l_b
    acc = alpha_a * acc_a + alpha_b * acc_b
    return m_new, l, acc
