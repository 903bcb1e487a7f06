# expects: `.reshape(1, 1, BLOCK_M, BLOCK_D)`
# Exercise 10.3d
@triton.jit
def attend_tiles(
    q_i, k_desc, v_desc, m_i, l_i, acc,
    off_z, off_h, lo, hi, n_k, scale, offs_m,
    BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr,
):
    """Keys lo to hi, block by block."""
    for start_n in range(lo, hi, BLOCK_N):
        k_j = k_desc.load([off_z, off_h, start_n, 0]).reshape(BLOCK_N, BLOCK_D)  # [BLOCK_N, BLOCK_D]
        v_j = v_desc.load([off_z, off_h, start_n, 0]).reshape(BLOCK_N, BLOCK_D)
        s_ij = tl.dot(q_i, k_j.T, input_precision="ieee")
        if MASKED:
            offs_n = start_n + tl.arange(0, BLOCK_N)
            keep = (offs_n < n_k)[None, :]
            if CAUSAL:
                keep = keep & (offs_m[:, None] >= offs_n[None, :])
            s_ij = tl.where(keep, s_ij, -float("inf"))
        m_i, l_i, acc = base2_step(s_ij, v_j, scale, m_i, l_i, acc)
    return m_i, l_i, acc


@triton.jit
def attend_head(
    q_desc, k_desc, v_desc,
    pid_m, off_z, off_h, n_k, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr, CAUSAL: tl.constexpr,
):
    """m_i, l_i and acc of block pid_m of the queries, all keys included."""
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    q_i = q_desc.load([off_z, off_h, pid_m * BLOCK_M, 0]).reshape(BLOCK_M, BLOCK_D)  # [BLOCK_M, BLOCK_D]
    m_i = tl.full([BLOCK_M], -float("inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)

    full, end = key_range(pid_m, n_k, BLOCK_M, BLOCK_N, CAUSAL)
    m_i, l_i, acc = attend_tiles(
        q_i, k_desc, v_desc, m_i, l_i, acc, off_z, off_h, 0, full, n_k, scale, offs_m, BLOCK_N, BLOCK_D, CAUSAL, False
    )
    return attend_tiles(
        q_i, k_desc, v_desc, m_i, l_i, acc, off_z, off_h, full, end, n_k, scale, offs_m, BLOCK_N, BLOCK_D, CAUSAL, True
    )


@triton.jit
def descriptor_kernel(
    q_desc, k_desc, v_desc, o_desc,
    n_heads, n_q, n_k, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr, CAUSAL: tl.constexpr,
):
    """o = softmax(q kᵀ scale) v; each program answers BLOCK_M queries of one head."""
    num_pid_m = tl.cdiv(n_q, BLOCK_M)
    pid_m, off_hz = num_pid_m - 1 - tl.program_id(0) % num_pid_m, tl.program_id(0) // num_pid_m  # the longest first
    off_z, off_h = off_hz // n_heads, off_hz % n_heads
    m_i, l_i, acc = attend_head(
        q_desc, k_desc, v_desc, pid_m, off_z, off_h, n_k, scale, BLOCK_M, BLOCK_N, BLOCK_D, CAUSAL
    )

    o = (acc / l_i[:, None]).to(o_desc.dtype)
    o_desc.store([off_z, off_h, pid_m * BLOCK_M, 0], o)  # writes one tile


def attention_descriptors(q, k, v, o, BLOCK_M, BLOCK_N):
    """Descriptors of the four tensors, each with the shape of its tile."""
    BLOCK_D = max(16, triton.next_power_of_2(q.shape[-1]))
    words = BLOCK_M, BLOCK_N, BLOCK_N, BLOCK_M  # four numbers: in a tile of q, k, v and o
    return [TensorDescriptor.from_tensor(x, [1, 1, n, BLOCK_D]) for x, n in zip((q, k, v, o), words)]


def flash_attention(q, k, v, o, causal, **tile):
    (batch, n_heads, n_q, d), n_k = q.shape, k.shape[2]
    tile = tile or tile_of(d, q.element_size())
    if not has_descriptor(q, k, v, o) or (causal and n_q != n_k):
        return base2(q, k, v, o, causal, **tile)
    descriptors = attention_descriptors(q, k, v, o, tile["BLOCK_M"], tile["BLOCK_N"])
    grid = (triton.cdiv(n_q, tile["BLOCK_M"]) * batch * n_heads,)
    scale = d**-0.5 * LOG2E.value
    descriptor_kernel[grid](*descriptors, n_heads, n_q, n_k, scale, BLOCK_D=descriptors[0].block_shape[3], CAUSAL=causal, **tile)
