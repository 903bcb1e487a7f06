# expects: The new terms are measured against m_new already: alpha
# Exercise 10.1
@triton.jit
def online_step(s_ij, v_j, scale, m_i, l_i, acc):
    """One block of keys taken into m_i, l_i and acc, as in lesson 06; returns the three."""
    s_ij = s_ij * scale
    m_new = tl.maximum(m_i, tl.max(s_ij, axis=1))  # the largest score so far, [BLOCK_M]
    alpha = tl.exp(m_i - m_new)  # the factor for what was measured against m_i, [BLOCK_M]
    p = tl.exp(s_ij - m_new[:, None])  # [BLOCK_M, BLOCK_N]
    l_i = (l_i + tl.sum(p, axis=1)) * alpha  # the sum of the terms so far, [BLOCK_M]
    acc = tl.dot(p.to(v_j.dtype), v_j, acc * alpha[:, None], input_precision="ieee")  # [BLOCK_M, HEAD_DIM]
    return m_new, l_i, acc
