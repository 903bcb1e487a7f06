# expects: The scores are not scaled
# Exercise 10.5b
@triton.jit
def visit_queries(
    dk, dv, k_j, v_j, q_desc, do_desc, lse_ptr, delta_ptr,
    off_z, off_h, lo, hi, offs_n, n_q, scale,
    MASKED: tl.constexpr, BLOCK_M: tl.constexpr,
):
    """Add to dk and dv what queries lo to hi give. s_ji, p, dp and ds are [BLOCK_N, BLOCK_M]."""
    for start_m in range(lo, hi, BLOCK_M):
        offs_m = start_m + tl.arange(0, BLOCK_M)
        q_i, do_i = load_rows(q_desc, off_z, off_h, start_m), load_rows(do_desc, off_z, off_h, start_m)
        lse = tl.load(lse_ptr + offs_m, mask=offs_m < n_q, other=0.0)
        delta = tl.load(delta_ptr + offs_m, mask=offs_m < n_q, other=0.0)

        s_ji = tl.dot(k_j, q_i.T, input_precision="ieee") * LOG2E  # the scores, in base 2
        p = tl.exp2(s_ji - lse[None, :])  # the weights
        if MASKED:
            p = tl.where(offs_m[None, :] >= offs_n[:, None], p, 0.0)  # 0 for a key that comes after the query
        dp = tl.dot(v_j, do_i.T, input_precision="ieee")
        dv = tl.dot(p.to(do_i.dtype), do_i, dv, input_precision="ieee")
        ds = p * (dp - delta[None, :])
        dk = tl.dot(ds.to(q_i.dtype), q_i, dk, input_precision="ieee")  # without the scale
    return dk, dv


@triton.jit
def backward_kv_kernel(
    q_desc, k_desc, v_desc, do_desc, dk_desc, dv_desc, lse_ptr, delta_ptr,
    n_heads, n_q, n_k, scale,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):
    """dk and dv of BLOCK_N keys of one head."""
    num_pid_n = tl.cdiv(n_k, BLOCK_N)
    start_n, off_hz = tl.program_id(0) % num_pid_n * BLOCK_N, tl.program_id(0) // num_pid_n
    off_z, off_h = off_hz // n_heads, off_hz % n_heads
    row = off_hz.to(tl.int64) * n_q  # of lse and delta, which are contiguous
    lse_ptr, delta_ptr = lse_ptr + row, delta_ptr + row
    offs_n = start_n + tl.arange(0, BLOCK_N)
    k_j, v_j = load_rows(k_desc, off_z, off_h, start_n), load_rows(v_desc, off_z, off_h, start_n)
    dk = tl.zeros([BLOCK_N, BLOCK_D], tl.float32)
    dv = tl.zeros([BLOCK_N, BLOCK_D], tl.float32)

    lo = 0
    if CAUSAL:
        first = start_n  # the first query that sees one of these keys
        lo = tl.minimum(start_n + BLOCK_N, n_q)  # from here on, no mask is needed
        dk, dv = visit_queries(
            dk, dv, k_j, v_j, q_desc, do_desc, lse_ptr, delta_ptr, off_z, off_h, first, lo, offs_n, n_q, scale, True, BLOCK_M
        )
    dk, dv = visit_queries(
        dk, dv, k_j, v_j, q_desc, do_desc, lse_ptr, delta_ptr, off_z, off_h, lo, n_q, offs_n, n_q, scale, False, BLOCK_M
    )

    dk = dk * scale
    dk_desc.store([off_z, off_h, start_n, 0], dk.to(dk_desc.dtype).reshape(1, 1, BLOCK_N, BLOCK_D))
    dv_desc.store([off_z, off_h, start_n, 0], dv.to(dv_desc.dtype).reshape(1, 1, BLOCK_N, BLOCK_D))
