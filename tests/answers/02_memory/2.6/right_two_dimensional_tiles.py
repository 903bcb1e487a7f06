# Exercise 2.6
@triton.jit
def copy_matrix_kernel(
    x_ptr, out_ptr,
    M, N,
    stride_xm, stride_xn, stride_om, stride_on,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    """out = x; each program copies a tile, BLOCK_M by BLOCK_N."""
    rows = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    mask = (rows < M) & (cols < N)
    x = tl.load(x_ptr + rows * stride_xm + cols * stride_xn, mask=mask)
    tl.store(out_ptr + rows * stride_om + cols * stride_on, x, mask=mask)


def copy_matrix(x, out):
    if x.stride(1) != 1:
        x, out = x.T, out.T
    M, N = x.shape
    copy_matrix_kernel[(triton.cdiv(N, 64), triton.cdiv(M, 8))](x, out, M, N, *x.stride(), *out.stride(), 8, 64)
