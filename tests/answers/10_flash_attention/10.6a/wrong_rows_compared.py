# expects: counts rows of the tile
# Exercise 10.6a
@triton.jit
def grouped_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr,
    n_q, n_k, group, scale,
    stride_qz, stride_qh, stride_qm, stride_qd,
    stride_kz, stride_kh, stride_kn, stride_kd,
    stride_vz, stride_vh, stride_vn, stride_vd,
    stride_oz, stride_oh, stride_om, stride_od,
    HEAD_DIM: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):
    """o of BLOCK_M rows; a row is a query of one of the heads that share k and v."""
    off_z, off_kv, pid_m = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64), tl.program_id(2)
    rows = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_m = rows // group  # ______ the query of each row, [BLOCK_M]
    offs_h = off_kv * group + rows % group  # ______ its head of q, [BLOCK_M]
    offs_d = tl.arange(0, BLOCK_D).to(tl.int64)
    mask_q = (offs_m < n_q)[:, None] & (offs_d < HEAD_DIM)[None, :]
    q_offs = off_z * stride_qz + (offs_h * stride_qh + offs_m * stride_qm)[:, None] + offs_d[None, :] * stride_qd
    q_i = tl.load(q_ptr + q_offs, mask=mask_q, other=0.0)

    k_ptr += off_z * stride_kz + off_kv * stride_kh  # ______ the head of k that all rows share
    v_ptr += off_z * stride_vz + off_kv * stride_vh
    m_i = tl.full([BLOCK_M], -float("inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)

    end = tl.minimum(n_k, (pid_m * BLOCK_M + BLOCK_M - 1) // group + 1) if CAUSAL else n_k  # ______ the first key that no row sees
    for start_n in range(0, end, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N).to(tl.int64)
        mask_k = (offs_n < n_k)[:, None] & (offs_d < HEAD_DIM)[None, :]
        k_j = tl.load(k_ptr + offs_n[:, None] * stride_kn + offs_d[None, :] * stride_kd, mask=mask_k, other=0.0)
        v_j = tl.load(v_ptr + offs_n[:, None] * stride_vn + offs_d[None, :] * stride_vd, mask=mask_k, other=0.0)
        visible = (rows[:, None] >= offs_n[None, :]) if CAUSAL else (offs_n < n_k)[None, :]  # ______ [BLOCK_M, BLOCK_N] or [1, BLOCK_N]
        s_ij = tl.where(visible, tl.dot(q_i, k_j.T, input_precision="ieee"), -float("inf"))
        m_i, l_i, acc = base2_step(s_ij, v_j, scale, m_i, l_i, acc)

    o_offs = off_z * stride_oz + (offs_h * stride_oh + offs_m * stride_om)[:, None] + offs_d[None, :] * stride_od
    tl.store(o_ptr + o_offs, acc / l_i[:, None], mask=mask_q)
