# expects: A tile has BLOCK_D columns, of which HEAD_DIM exist, and
# Exercise 10.5a
@triton.jit
def row_products_kernel(
    o_ptr, do_ptr, delta_ptr,
    n_q,
    stride_oz, stride_oh, stride_om, stride_od,
    stride_gz, stride_gh, stride_gm, stride_gd,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_D: tl.constexpr,
):
    """delta = the sum of each row of o * do; a program has BLOCK_M rows of one head."""
    off_z, off_h = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    offs_m = tl.program_id(2).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, BLOCK_D).to(tl.int64)
    mask_m = offs_m < n_q
    mask = (offs_d < HEAD_DIM)[None, :]  # the elements that exist, [BLOCK_M, BLOCK_D]

    o_ptrs = o_ptr + off_z * stride_oz + off_h * stride_oh + offs_m[:, None] * stride_om + offs_d[None, :] * stride_od
    do_ptrs = do_ptr + off_z * stride_gz + off_h * stride_gh + offs_m[:, None] * stride_gm + offs_d[None, :] * stride_gd
    o = tl.load(o_ptrs, mask=mask, other=0.0)
    do = tl.load(do_ptrs, mask=mask, other=0.0)
    delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), axis=1)  # [BLOCK_M]

    row = (off_z * tl.num_programs(1) + off_h) * n_q  # delta is contiguous
    tl.store(delta_ptr + row + offs_m, delta, mask=mask_m)
