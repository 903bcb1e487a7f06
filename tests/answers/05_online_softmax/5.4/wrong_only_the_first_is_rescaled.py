# expects: the first has the larger maximum
# expects: l is
# expects: (m is right.)
# Exercise 5.4
def merge(a, b):
    """As in the loop of 5.3: the second part is taken to hold the larger maximum."""
    (m_a, l_a, acc_a), (m_b, l_b, acc_b) = a, b
    m_new = max(m_a, m_b)
    shift = m_new if m_new > -np.inf else 0.0
    alpha_a = np.exp(m_a - shift)
    alpha_b = np.exp(m_b - shift)
    l = alpha_a * l_a + l_b
    acc = alpha_a * acc_a + acc_b
    return m_new, l, acc
