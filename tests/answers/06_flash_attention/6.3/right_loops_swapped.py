# Exercise 6.3
def blockwise_attention(q, k, v, block_q, block_k, causal=False):
    """The loops of the first FlashAttention: keys outside, and m, l and o of all queries kept in slow memory."""
    (n_q, d), (n_k, d_v) = q.shape, v.shape
    if causal and n_q != n_k:
        raise ValueError(f"causal: {n_q} queries and {n_k} keys")
    m, l, o = nothing_yet(n_q, d_v, q.dtype)
    for j in range(0, n_k, block_k):
        k_j, v_j = k[j : j + block_k], v[j : j + block_k]
        for i in range(j // block_q * block_q if causal else 0, n_q, block_q):
            rows = slice(i, min(i + block_q, n_q))
            s = q[rows] @ k_j.T / d**0.5
            if causal:
                s = np.where(np.arange(i, rows.stop)[:, None] >= np.arange(j, j + len(k_j)), s, -np.inf)
            m_new = np.maximum(m[rows], s.max(axis=1))
            shift = np.where(m_new > -np.inf, m_new, np.float32(0))
            p, keep = np.exp(s - shift[:, None]), np.exp(m[rows] - shift)
            l_new = l[rows] * keep + p.sum(axis=1)
            o[rows] = (o[rows] * (l[rows] * keep)[:, None] + p @ v_j) / np.where(l_new > 0, l_new, np.float32(1))[:, None]
            m[rows], l[rows] = m_new, l_new
    return o
