# Exercise 6.3
def blockwise_attention(q, k, v, block_q, block_k, causal=False):
    """The last keys first, and exponents in base 2, with the scale and log2(e) folded into q."""
    (n_q, d), (n_k, d_v) = q.shape, v.shape
    if causal and n_q != n_k:
        raise ValueError("causal attention needs as many queries as keys")
    o = np.empty((n_q, d_v), q.dtype)
    for offs_m in blocks(n_q, block_q):
        q_i = q[offs_m] * (1.4426950408889634 * d**-0.5)
        m_i, l_i, acc = nothing_yet(len(q_i), d_v, q.dtype)
        for offs_n in reversed(list(blocks(n_k, block_k))):
            s_ij = q_i @ k[offs_n].T
            if causal:
                s_ij[indices(offs_n)[None, :] > indices(offs_m)[:, None]] = -np.inf
            m_new = np.maximum(m_i, s_ij.max(axis=1))
            shift = np.where(m_new > -np.inf, m_new, np.float32(0))
            alpha, p = np.exp2(m_i - shift), np.exp2(s_ij - shift[:, None])
            l_i, acc, m_i = l_i * alpha + p.sum(axis=1), acc * alpha[:, None] + p @ v[offs_n], m_new
        o[offs_m] = acc / l_i[:, None]
    return o
