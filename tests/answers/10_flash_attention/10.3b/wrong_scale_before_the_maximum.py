# expects: the maximum is taken of products, one for each score
# Exercise 10.3b
LOG2E = tl.constexpr(1.4426950408889634)  # the logarithm of e, base 2


@triton.jit
def base2_step(s_ij, v_j, scale, m_i, l_i, acc):
    """One block of keys taken into m_i, l_i and acc; scale contains log2(e)."""
    m_new = tl.maximum(m_i, tl.max(s_ij * scale, axis=1))  # [BLOCK_M], in units of base 2
    alpha = tl.exp2(m_i - m_new)  # [BLOCK_M]
    p = tl.exp2(s_ij * scale - m_new[:, None])  # [BLOCK_M, BLOCK_N]
    l_i = l_i * alpha + tl.sum(p, axis=1)
    acc = tl.dot(p.to(v_j.dtype), v_j, acc * alpha[:, None], input_precision="ieee")
    return m_new, l_i, acc


def base2(q, k, v, o, causal, BLOCK_M=64, BLOCK_N=64, **options):
    scale = q.shape[-1] ** -0.5 * LOG2E.value
    launch_attention(two_loops_kernel, q, k, v, o, causal, scale, base2_step, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, **options)
