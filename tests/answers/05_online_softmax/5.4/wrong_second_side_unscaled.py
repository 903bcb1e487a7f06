# expects: The second side is added as it is
# Exercise 5.4
def merge(a, b):
    """(m, l, acc) of two parts together, from the (m, l, acc) of each."""
    (m_a, l_a, acc_a), (m_b, l_b, acc_b) = a, b

    m_new = max(m_a, m_b)
    shift = m_new if m_new > -np.inf else 0.0  # as in exercise 5.3

    alpha_a = np.exp(m_a - shift)
    alpha_b = np.exp(m_b - shift)

    l = alpha_a * l_a + l_b
    acc = alpha_a * acc_a + acc_b
    return m_new, l, acc
