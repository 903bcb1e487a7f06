# expects: The last block sticks out, and is not masked
# Exercise 10.5c
@triton.jit
def visit_keys(
    dq, q_i, do_i, lse, delta, k_desc, v_desc,
    off_z, off_h, lo, hi, offs_m, n_k, scale,
    MASKED: tl.constexpr, CAUSAL: tl.constexpr, BLOCK_N: tl.constexpr,
):
    """Add to dq what keys lo to hi give. s_ij, p, dp and ds are [BLOCK_M, BLOCK_N]."""
    for start_n in range(lo, hi, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        k_j, v_j = load_rows(k_desc, off_z, off_h, start_n), load_rows(v_desc, off_z, off_h, start_n)
        s_ij = tl.dot(q_i, k_j.T, input_precision="ieee") * (scale * LOG2E)
        p = tl.exp2(s_ij - lse[:, None])
        if MASKED:
            visible = offs_m[:, None] >= offs_n[None, :] if CAUSAL else (offs_n < n_k)[None, :]
            p = tl.where(visible, p, 0.0)
        dp = tl.dot(do_i, v_j.T, input_precision="ieee")
        ds = p * (dp - delta[:, None])
        dq = tl.dot(ds.to(k_j.dtype), k_j, dq, input_precision="ieee")  # without the scale
    return dq


@triton.jit
def backward_q_kernel(
    q_desc, k_desc, v_desc, do_desc, dq_desc, lse_ptr, delta_ptr,
    n_heads, n_q, n_k, scale,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):
    """dq of BLOCK_M queries of one head; the last blocks, which see most keys, come first."""
    num_pid_m = tl.cdiv(n_q, BLOCK_M)
    start_m, off_hz = (num_pid_m - 1 - tl.program_id(0) % num_pid_m) * BLOCK_M, tl.program_id(0) // num_pid_m
    off_z, off_h = off_hz // n_heads, off_hz % n_heads
    row = off_hz.to(tl.int64) * n_q
    offs_m = start_m + tl.arange(0, BLOCK_M)
    q_i, do_i = load_rows(q_desc, off_z, off_h, start_m), load_rows(do_desc, off_z, off_h, start_m)
    lse = tl.load(lse_ptr + row + offs_m, mask=offs_m < n_q, other=0.0)
    delta = tl.load(delta_ptr + row + offs_m, mask=offs_m < n_q, other=0.0)
    dq = tl.zeros([BLOCK_M, BLOCK_D], tl.float32)

    whole = tl.cdiv(start_m if CAUSAL else n_k, BLOCK_N) * BLOCK_N  # up to here no mask is needed
    end = tl.minimum(start_m + BLOCK_M, n_k) if CAUSAL else n_k  # the first key that no query sees
    dq = visit_keys(dq, q_i, do_i, lse, delta, k_desc, v_desc, off_z, off_h, 0, whole, offs_m, n_k, scale, False, CAUSAL, BLOCK_N)
    dq = visit_keys(dq, q_i, do_i, lse, delta, k_desc, v_desc, off_z, off_h, whole, end, offs_m, n_k, scale, True, CAUSAL, BLOCK_N)

    dq_desc.store([off_z, off_h, start_m, 0], (dq * scale).to(dq_desc.dtype).reshape(1, 1, BLOCK_M, BLOCK_D))
