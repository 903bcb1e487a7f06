# expects: A split reads keys before `end`, and columns before
# Exercise 10.7a
@triton.jit
def split_kernel(
    q_ptr, k_ptr, v_ptr, m_ptr, l_ptr, acc_ptr,
    n_k, chunk, scale,
    stride_qz, stride_qh, stride_qd,
    stride_kz, stride_kh, stride_kn, stride_kd,
    stride_vz, stride_vh, stride_vn, stride_vd,
    HEAD_DIM: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):
    """m, l and acc of one query of one head, over one split of the keys."""
    off_z, off_h, split = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64), tl.program_id(2)
    offs_d = tl.arange(0, BLOCK_D).to(tl.int64)
    mask_d = offs_d < HEAD_DIM
    q = tl.load(q_ptr + off_z * stride_qz + off_h * stride_qh + offs_d * stride_qd, mask=mask_d, other=0.0)
    q = q.to(tl.float32) * (scale * LOG2E)
    k_ptr += off_z * stride_kz + off_h * stride_kh
    v_ptr += off_z * stride_vz + off_h * stride_vh
    m_i, l_i, acc = -float("inf"), 0.0, tl.zeros([BLOCK_D], tl.float32)

    end = (split + 1) * chunk  # the first key after this split
    for start_n in tl.range(split * chunk, end, BLOCK_N, num_stages=2):
        offs_n = start_n + tl.arange(0, BLOCK_N).to(tl.int64)
        mask = (offs_n < end)[:, None] & mask_d[None, :]  # [BLOCK_N, BLOCK_D]
        k = tl.load(k_ptr + offs_n[:, None] * stride_kn + offs_d[None, :] * stride_kd, mask=mask, other=0.0)
        v = tl.load(v_ptr + offs_n[:, None] * stride_vn + offs_d[None, :] * stride_vd, mask=mask, other=0.0)
        s = tl.sum(k.to(tl.float32) * q[None, :], axis=1)  # the scores, [BLOCK_N]
        s = tl.where(offs_n < end, s, -float("inf"))

        m_new = tl.maximum(m_i, tl.max(s, axis=0))  # one number
        alpha, p = tl.exp2(m_i - m_new), tl.exp2(s - m_new)
        l_i = l_i * alpha + tl.sum(p, axis=0)  # one number
        acc = acc * alpha + tl.sum(p[:, None] * v.to(tl.float32), axis=0)  # [BLOCK_D]
        m_i = m_new

    i = (off_z * tl.num_programs(1) + off_h) * tl.num_programs(2) + split  # where this split's numbers go
    tl.store(m_ptr + i, m_i)
    tl.store(l_ptr + i, l_i)
    tl.store(acc_ptr + i * HEAD_DIM + offs_d, acc, mask=mask_d)
