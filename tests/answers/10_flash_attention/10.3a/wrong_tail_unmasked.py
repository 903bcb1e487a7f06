# expects: Without causal, `full` ends before a block that sticks
# Exercise 10.3a
@triton.jit
def key_range(pid_m, n_k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    """Keys before `full`, a multiple of BLOCK_N, are seen by the whole block of queries; keys from `end` on by none."""
    if CAUSAL:
        full = pid_m * BLOCK_M // BLOCK_N * BLOCK_N
        end = tl.minimum(n_k, (pid_m + 1) * BLOCK_M)
    else:
        full = n_k
        end = n_k
    return full, end


@triton.jit
def two_loops_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr,
    n_heads, n_q, n_k, scale,
    stride_qz, stride_qh, stride_qm, stride_qd, stride_kz, stride_kh, stride_kn, stride_kd,
    stride_vz, stride_vh, stride_vn, stride_vd, stride_oz, stride_oh, stride_om, stride_od,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr, CAUSAL: tl.constexpr,
    STEP: tl.constexpr,
):
    """o = softmax(q kᵀ scale) v: first the blocks of keys without a mask, then those with one."""
    num_pid_m = tl.cdiv(n_q, BLOCK_M)
    pid_m, off_hz = tl.program_id(0) % num_pid_m, tl.program_id(0).to(tl.int64) // num_pid_m
    offs_m, offs_n, offs_d = pid_m * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, BLOCK_D)[None, :]
    mask_m, mask_d = (offs_m < n_q)[:, None], offs_d < HEAD_DIM
    row_m = offs_m.to(tl.int64)[:, None]
    q_ptrs = head_of(q_ptr, off_hz, n_heads, stride_qz, stride_qh) + row_m * stride_qm + offs_d * stride_qd
    o_ptrs = head_of(o_ptr, off_hz, n_heads, stride_oz, stride_oh) + row_m * stride_om + offs_d * stride_od
    k_ptr = head_of(k_ptr, off_hz, n_heads, stride_kz, stride_kh)
    v_ptr = head_of(v_ptr, off_hz, n_heads, stride_vz, stride_vh)
    offs_k = offs_n[:, None] * stride_kn + offs_d * stride_kd
    offs_v = offs_n[:, None] * stride_vn + offs_d * stride_vd

    q_i = tl.load(q_ptrs, mask=mask_m & mask_d, other=0.0)
    m_i = tl.full([BLOCK_M], -float("inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)
    full, end = key_range(pid_m, n_k, BLOCK_M, BLOCK_N, CAUSAL)
    k_ptr, v_ptr, m_i, l_i, acc = attend_blocks(
        q_i, k_ptr, v_ptr, offs_k, offs_v, m_i, l_i, acc,
        0, full, n_k, scale, offs_m, mask_d, stride_kn, stride_vn, BLOCK_N, CAUSAL, STEP, False,
    )
    k_ptr, v_ptr, m_i, l_i, acc = attend_blocks(
        q_i, k_ptr, v_ptr, offs_k, offs_v, m_i, l_i, acc,
        full, end, n_k, scale, offs_m, mask_d, stride_kn, stride_vn, BLOCK_N, CAUSAL, STEP, True,
    )
    tl.store(o_ptrs, acc / l_i[:, None], mask=mask_m & mask_d)


def two_loops(q, k, v, o, causal, BLOCK_M=64, BLOCK_N=64, **options):
    scale = q.shape[-1] ** -0.5
    launch_attention(two_loops_kernel, q, k, v, o, causal, scale, online_step, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, **options)
