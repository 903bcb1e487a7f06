# expects: `row` is [16, 64]
# expects: the addresses are [64] and the mask [16, 64]
# Exercise 7.4
@triton.jit
def add_row_kernel(
    x_ptr, row_ptr, out_ptr,
    M, N,
    stride_xm, stride_xn, stride_row, stride_om, stride_on,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    """out[m, n] = x[m, n] + row[n]; each program adds one tile, BLOCK_M by BLOCK_N."""
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)

    x_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :] * stride_xn
    x = tl.load(x_ptrs, mask=mask)
    row = tl.load(row_ptr + offs_n * stride_row, mask=mask)

    out_ptrs = out_ptr + offs_m[:, None] * stride_om + offs_n[None, :] * stride_on
    tl.store(out_ptrs, x + row[None, :], mask=mask)


def add_row(x, row, out):
    (M, N), BLOCK_M, BLOCK_N = x.shape, 16, 64
    grid = (triton.cdiv(M, BLOCK_M), triton.cdiv(N, BLOCK_N))
    add_row_kernel[grid](x, row, out, M, N, *x.stride(), *row.stride(), *out.stride(), BLOCK_M, BLOCK_N)
