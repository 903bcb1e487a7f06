# expects: the inner loop goes over offs_n
# Exercise 6.3
def blockwise_attention(q, k, v, block_q, block_k, causal=False):
    """softmax(q kᵀ / √d) v, [n_q, d_v]; reads q once, k and v once for each block of queries."""
    (n_q, d), (n_k, d_v) = q.shape, v.shape
    if causal and n_q != n_k:
        raise ValueError(f"causal attention needs as many queries as keys, not {n_q} and {n_k}")
    o = np.empty((n_q, d_v), q.dtype)
    for offs_m in blocks(n_q, block_q):
        q_i = q[offs_m]  # [block_q, d]
        m_i, l_i, acc = nothing_yet(len(q_i), d_v, q.dtype)
        for offs_n in blocks(n_k, block_k):
            k_j, v_j = k[offs_m], v[offs_m]
            s_ij = q_i @ k_j.T * d**-0.5
            if causal:
                s_ij = np.where(indices(offs_m)[:, None] >= indices(offs_n)[None, :], s_ij, -np.inf)
            m_new = np.maximum(m_i, s_ij.max(axis=-1))
            alpha = np.exp(m_i - m_new)
            p = np.exp(s_ij - m_new[:, None])
            l_i = l_i * alpha + p.sum(axis=-1)
            acc = acc * alpha[:, None] + p @ v_j
            m_i = m_new
        o[offs_m] = acc / l_i[:, None]
    return o
