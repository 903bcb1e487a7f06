# expects: The grid of outer_sum_kernel is (0, 0): no program ran.
# Exercise 7.5
@triton.jit
def outer_sum_kernel(
    x_ptr, y_ptr, out_ptr,
    M, N,
    stride_x, stride_y, stride_om, stride_on,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    """out[m, n] = x[m] + y[n]; each program fills one tile, BLOCK_M by BLOCK_N."""
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)

    x = tl.load(x_ptr + offs_m * stride_x, mask=offs_m < M)  # [BLOCK_M]
    y = tl.load(y_ptr + offs_n * stride_y, mask=offs_n < N)  # [BLOCK_N]

    out_ptrs = out_ptr + offs_m[:, None] * stride_om + offs_n[None, :] * stride_on
    tl.store(out_ptrs, x[:, None] + y[None, :], mask=mask)


def outer_sum(x, y, out):
    (M, N), BLOCK_M, BLOCK_N = out.shape, 16, 64
    grid = (M // BLOCK_M, N // BLOCK_N)
    outer_sum_kernel[grid](x, y, out, M, N, x.stride(0), y.stride(0), *out.stride(), BLOCK_M, BLOCK_N)
