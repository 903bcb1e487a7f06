# expects: acc differ
# expects: (m and l are right.)
# Exercise 5.4
def merge(a, b):
    """acc is weighted by l as well."""
    (m_a, l_a, acc_a), (m_b, l_b, acc_b) = a, b
    m_new = max(m_a, m_b)
    shift = m_new if m_new > -np.inf else 0.0
    alpha_a = np.exp(m_a - shift)
    alpha_b = np.exp(m_b - shift)
    l = alpha_a * l_a + alpha_b * l_b
    acc = (alpha_a * l_a * acc_a + alpha_b * l_b * acc_b) / max(l, 1e-30)
    return m_new, l, acc
