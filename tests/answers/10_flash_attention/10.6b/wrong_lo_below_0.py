# expects: There is no key before key 0
# Exercise 10.6b
@triton.jit
def window_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr,
    n_q, n_k, window, scale,
    stride_qz, stride_qh, stride_qm, stride_qd,
    stride_kz, stride_kh, stride_kn, stride_kd,
    stride_vz, stride_vh, stride_vn, stride_vd,
    stride_oz, stride_oh, stride_om, stride_od,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):
    """o of BLOCK_M queries of one head; query i sees the keys j with i - window < j <= i."""
    off_z, off_h, start_m = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64), tl.program_id(2) * BLOCK_M
    offs_m = start_m + tl.arange(0, BLOCK_M).to(tl.int64)
    offs_d = tl.arange(0, BLOCK_D).to(tl.int64)
    mask_q = (offs_m < n_q)[:, None] & (offs_d < HEAD_DIM)[None, :]
    q_offs = off_z * stride_qz + off_h * stride_qh + offs_m[:, None] * stride_qm + offs_d[None, :] * stride_qd
    q_i = tl.load(q_ptr + q_offs, mask=mask_q, other=0.0)

    k_ptr += off_z * stride_kz + off_h * stride_kh
    v_ptr += off_z * stride_vz + off_h * stride_vh
    m_i = tl.full([BLOCK_M], LOWEST, tl.float32)  # the largest score so far, never -inf
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)

    lo = start_m - window + 1  # the first block of keys that some query sees
    hi = tl.minimum(start_m + BLOCK_M, n_k)  # the first key that none sees any more
    for start_n in range(lo, hi, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N).to(tl.int64)
        mask_k = (offs_n < n_k)[:, None] & (offs_d < HEAD_DIM)[None, :]
        k_j = tl.load(k_ptr + offs_n[:, None] * stride_kn + offs_d[None, :] * stride_kd, mask=mask_k, other=0.0)
        v_j = tl.load(v_ptr + offs_n[:, None] * stride_vn + offs_d[None, :] * stride_vd, mask=mask_k, other=0.0)
        ago = offs_m[:, None] - offs_n[None, :]  # how many places before the query the key stands
        visible = (ago >= 0) & (ago < window) & (offs_n < n_k)[None, :]
        s_ij = tl.where(visible, tl.dot(q_i, k_j.T, input_precision="ieee"), -float("inf"))
        m_i, l_i, acc = base2_step(s_ij, v_j, scale, m_i, l_i, acc)

    o = acc / tl.maximum(l_i, 1.0)[:, None]  # 0 for a query that sees no key
    o_offs = off_z * stride_oz + off_h * stride_oh + offs_m[:, None] * stride_om + offs_d[None, :] * stride_od
    tl.store(o_ptr + o_offs, o, mask=mask_q)
