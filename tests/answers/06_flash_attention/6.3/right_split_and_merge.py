# Exercise 6.3
def blockwise_attention(q, k, v, block_q, block_k, causal=False):
    """Each row of tiles is split in two until one is left; halves are merged as in lesson 05."""
    (n_q, d), n_k = q.shape, len(k)
    if causal and n_q != n_k:
        raise ValueError("as many queries as keys, please")

    def part(q_i, first, tiles):
        if len(tiles) > 1:
            (m_a, l_a, acc_a), (m_b, l_b, acc_b) = part(q_i, first, tiles[::2]), part(q_i, first, tiles[1::2])
            m = np.maximum(m_a, m_b)
            a, b = (np.exp(x - np.where(m > -np.inf, m, np.float32(0))) for x in (m_a, m_b))
            return m, a * l_a + b * l_b, a * acc_a + b * acc_b
        offs_n = tiles[0]
        s = q_i @ k[offs_n].T * d**-0.5
        if causal:
            s = np.where(first + np.arange(len(q_i))[:, None] >= indices(offs_n), s, -np.inf)
        m = s.max(axis=1, keepdims=True)
        p = np.exp(s - np.where(m > -np.inf, m, np.float32(0)))
        return m, p.sum(axis=1, keepdims=True), p @ v[offs_n]

    o = np.empty((n_q, v.shape[1]), q.dtype)
    for offs_m in blocks(n_q, block_q):
        m, l, acc = part(q[offs_m], offs_m.start, list(blocks(n_k, block_k)))
        o[offs_m] = acc / l
    return o
