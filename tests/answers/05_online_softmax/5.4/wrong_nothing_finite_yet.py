# expects: both masked
# expects: inf was subtracted from inf, or -inf from -inf
# Exercise 5.4
def merge(a, b):
    """-inf - (-inf) where both parts are masked or empty."""
    (m_a, l_a, acc_a), (m_b, l_b, acc_b) = a, b
    m_new = max(m_a, m_b)
    shift = m_new
    alpha_a = np.exp(m_a - shift)
    alpha_b = np.exp(m_b - shift)
    l = alpha_a * l_a + alpha_b * l_b
    acc = alpha_a * acc_a + alpha_b * acc_b
    return m_new, l, acc
