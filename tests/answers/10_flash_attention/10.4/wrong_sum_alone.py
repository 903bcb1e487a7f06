# expects: m_i is missing: l_i is a sum of terms that were divided
# Exercise 10.4
@triton.jit
def store_lse(lse_ptr, off_hz, offs_m, n_q, m_i, l_i):
    """The log-sum-exp of the rows of a program, in base 2."""
    lse = tl.log2(l_i)  # [BLOCK_M]
    tl.store(lse_ptr + off_hz.to(tl.int64) * n_q + offs_m, lse, mask=offs_m < n_q)  # of head off_hz


@triton.jit
def forward_kernel(
    q_desc, k_desc, v_desc, o_desc, lse_ptr,
    n_heads, n_q, n_k, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr, CAUSAL: tl.constexpr,
):
    """o and lse; each program answers BLOCK_M queries of one head."""
    num_pid_m = tl.cdiv(n_q, BLOCK_M)
    pid_m, off_hz = num_pid_m - 1 - tl.program_id(0) % num_pid_m, tl.program_id(0) // num_pid_m
    off_z, off_h = off_hz // n_heads, off_hz % n_heads
    m_i, l_i, acc = attend_head(
        q_desc, k_desc, v_desc, pid_m, off_z, off_h, n_k, scale, BLOCK_M, BLOCK_N, BLOCK_D, CAUSAL
    )
    store_lse(lse_ptr, off_hz, pid_m * BLOCK_M + tl.arange(0, BLOCK_M), n_q, m_i, l_i)

    o = (acc / l_i[:, None]).to(o_desc.dtype)
    o_desc.store([off_z, off_h, pid_m * BLOCK_M, 0], o.reshape(1, 1, BLOCK_M, BLOCK_D))
