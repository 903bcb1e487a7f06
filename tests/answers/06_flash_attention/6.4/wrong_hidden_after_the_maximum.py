# expects: m has seen hidden scores: hide them before the maximum
# Exercise 6.4
def causal_attention(q, k, v, block_q, block_k):
    """o [n, d_v], m [n] and l [n] of causal attention, without the tiles above the diagonal."""
    (n, d), d_v = q.shape, v.shape[1]
    o, m, l = np.empty((n, d_v), q.dtype), np.empty(n, q.dtype), np.empty(n, q.dtype)
    for offs_m in blocks(n, block_q):
        q_i = q[offs_m]
        m_i, l_i, acc = nothing_yet(len(q_i), d_v, q.dtype)
        for offs_n in blocks(offs_m.stop, block_k):
            k_j, v_j = k[offs_n], v[offs_n]
            s_ij = q_i @ k_j.T * d**-0.5
            m_new = np.maximum(m_i, s_ij.max(axis=-1))
            s_ij = np.where(indices(offs_m)[:, None] >= indices(offs_n)[None, :], s_ij, -np.inf)
            alpha = np.exp(m_i - m_new)
            p = np.exp(s_ij - m_new[:, None])
            l_i = l_i * alpha + p.sum(axis=-1)
            acc = acc * alpha[:, None] + p @ v_j
            m_i = m_new
        o[offs_m], m[offs_m], l[offs_m] = acc / l_i[:, None], m_i, l_i
    return o, m, l
