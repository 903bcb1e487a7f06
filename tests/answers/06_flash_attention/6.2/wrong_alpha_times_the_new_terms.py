# expects: l_i is 0: alpha multiplies the new terms too
# Exercise 6.2
def attend(q, k, v, block_k):
    """The attention of one block of queries to all keys, [block_q, d_v]; reads q, k and v once."""
    (block_q, d), (n_k, d_v) = q.shape, v.shape
    q_i = q[:]  # reads block_q d: stays in fast memory
    m_i = np.full(block_q, -np.inf, q.dtype)  # [block_q]
    l_i = np.zeros(block_q, q.dtype)  # [block_q]
    acc = np.zeros((block_q, d_v), q.dtype)  # [block_q, d_v]

    for offs_n in blocks(n_k, block_k):
        k_j, v_j = k[offs_n], v[offs_n]  # reads block_k (d + d_v)
        s_ij = q_i @ k_j.T * d**-0.5  # [block_q, block_k]

        m_new = np.maximum(m_i, s_ij.max(axis=-1))
        alpha = np.exp(m_i - m_new)
        p = np.exp(s_ij - m_new[:, None])  # the terms of this block

        l_i = l_i + alpha * p.sum(axis=-1)
        acc = acc * alpha[:, None] + p @ v_j
        m_i = m_new

    return acc / l_i[:, None]
