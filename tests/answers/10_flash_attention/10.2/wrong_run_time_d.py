# expects: arange's arguments must be of type tl.constexpr
# Exercise 10.2
@triton.jit
def head_of(ptr, off_hz, n_heads, stride_z, stride_h):
    """Where head off_hz begins, counted through all texts."""
    return ptr + off_hz // n_heads * stride_z + off_hz % n_heads * stride_h  # from the strides of text and head


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr,
    n_heads, n_q, n_k, scale,
    stride_qz, stride_qh, stride_qm, stride_qd, stride_kz, stride_kh, stride_kn, stride_kd,
    stride_vz, stride_vh, stride_vn, stride_vd, stride_oz, stride_oh, stride_om, stride_od,
    HEAD_DIM, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr, CAUSAL: tl.constexpr,
):
    """o = softmax(q kᵀ scale) v; each program answers BLOCK_M queries of one head."""
    num_pid_m = tl.cdiv(n_q, BLOCK_M)
    pid_m, off_hz = tl.program_id(0) % num_pid_m, tl.program_id(0).to(tl.int64) // num_pid_m
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)  # the queries of this program, [BLOCK_M]
    offs_n, offs_d = tl.arange(0, BLOCK_N), tl.arange(0, HEAD_DIM)[None, :]
    mask_m, mask_d = (offs_m < n_q)[:, None], offs_d < HEAD_DIM
    row_m = offs_m.to(tl.int64)[:, None]
    q_ptrs = head_of(q_ptr, off_hz, n_heads, stride_qz, stride_qh) + row_m * stride_qm + offs_d * stride_qd
    o_ptrs = head_of(o_ptr, off_hz, n_heads, stride_oz, stride_oh) + row_m * stride_om + offs_d * stride_od
    k_ptr = head_of(k_ptr, off_hz, n_heads, stride_kz, stride_kh)
    v_ptr = head_of(v_ptr, off_hz, n_heads, stride_vz, stride_vh)
    offs_k = offs_n[:, None] * stride_kn + offs_d * stride_kd  # [BLOCK_N, BLOCK_D]
    offs_v = offs_n[:, None] * stride_vn + offs_d * stride_vd

    q_i = tl.load(q_ptrs, mask=mask_m & mask_d, other=0.0)  # reads n_q d, all programs together
    m_i = tl.full([BLOCK_M], -float("inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)
    for start_n in range(0, n_k, BLOCK_N):
        mask_n = start_n + offs_n < n_k  # which keys of this block exist, [BLOCK_N]
        k_j = tl.load(k_ptr + offs_k, mask=mask_n[:, None] & mask_d, other=0.0)  # [BLOCK_N, BLOCK_D]
        v_j = tl.load(v_ptr + offs_v, mask=mask_n[:, None] & mask_d, other=0.0)
        keep = mask_n[None, :]
        if CAUSAL:
            keep = keep & (offs_m[:, None] >= (start_n + offs_n)[None, :])  # and not after the query
        s_ij = tl.where(keep, tl.dot(q_i, k_j.T, input_precision="ieee"), -float("inf"))
        m_i, l_i, acc = online_step(s_ij, v_j, scale, m_i, l_i, acc)
        k_ptr += BLOCK_N * stride_kn  # to the next block of keys
        v_ptr += BLOCK_N * stride_vn
    tl.store(o_ptrs, acc / l_i[:, None], mask=mask_m & mask_d)  # writes n_q d


def launch_attention(kernel, q, k, v, o, causal, scale, *more, BLOCK_M, BLOCK_N, **options):
    """Launch a kernel with the arguments of attention_kernel; more: further constants."""
    (batch, n_heads, n_q, d), n_k = q.shape, k.shape[2]
    if causal and n_q != n_k:
        raise ValueError(f"causal attention needs as many queries as keys, not {n_q} and {n_k}")
    grid = (triton.cdiv(n_q, BLOCK_M) * batch * n_heads,)  # a program for each block of queries of each head
    tile = d, BLOCK_M, BLOCK_N, max(16, triton.next_power_of_2(d))
    strides = *q.stride(), *k.stride(), *v.stride(), *o.stride()
    kernel[grid](q, k, v, o, n_heads, n_q, n_k, scale, *strides, *tile, causal, *more, **options)


def flash_attention(q, k, v, o, causal, BLOCK_M=64, BLOCK_N=64, **options):
    launch_attention(attention_kernel, q, k, v, o, causal, q.shape[-1] ** -0.5, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, **options)
