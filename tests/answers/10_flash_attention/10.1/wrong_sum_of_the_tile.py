# expects: axis=1
# Exercise 10.1
@triton.jit
def online_step(s_ij, v_j, scale, m_i, l_i, acc):
    """One block of keys taken into m_i, l_i and acc, as in lesson 06; returns the three."""
    s_ij = s_ij * scale
    m_new = tl.maximum(m_i, tl.max(s_ij, axis=1))  # ______ the largest score so far, [BLOCK_M]
    alpha = tl.exp(m_i - m_new)  # ______ the factor for what was measured against m_i, [BLOCK_M]
    p = tl.exp(s_ij - m_new[:, None])  # [BLOCK_M, BLOCK_N]
    l_i = l_i * alpha + tl.sum(p)  # ______ the sum of the terms so far, [BLOCK_M]
    acc = tl.dot(p.to(v_j.dtype), v_j, acc * alpha[:, None], input_precision="ieee")  # ______ [BLOCK_M, HEAD_DIM]
    return m_new, l_i, acc
