# Exercise 5.3
def online_softmax(x, block_size):
    """Parts of equal size are merged in pairs, as in a binary counter: log n parts are kept."""

    def together(a, b):
        (m_a, l_a), (m_b, l_b) = sorted((a, b), key=lambda part: part[0])
        return m_b, l_b + (l_a * float(np.exp(m_a - m_b)) if m_a > -np.inf else 0.0)

    stack = []
    for start in range(0, x.size, block_size):
        block = x[start : start + block_size].astype(np.float64)
        m = float(block.max())
        size, part = 1, (m, float(np.exp(block[block > -np.inf] - m).sum()))
        while stack and stack[-1][0] == size:
            size, part = 2 * size, together(stack.pop()[1], part)
        stack.append((size, part))
    m, l = stack.pop()[1]
    while stack:
        m, l = together(stack.pop()[1], (m, l))
    return m, l
