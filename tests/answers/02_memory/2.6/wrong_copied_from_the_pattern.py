# expects: the mask tests cols: which of the two must be the tile?
# Exercise 2.6
@triton.jit
def copy_matrix_kernel(
    x_ptr, out_ptr,
    M, N,
    stride_xm, stride_xn, stride_om, stride_on,
    BLOCK_SIZE: tl.constexpr,
):
    """out = x; each program copies BLOCK_SIZE elements that are neighbours in memory."""
    rows = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    cols = tl.program_id(1)
    mask = cols < N

    x = tl.load(x_ptr + rows * stride_xm + cols * stride_xn, mask=mask)  # reads M · N elements
    tl.store(out_ptr + rows * stride_om + cols * stride_on, x, mask=mask)  # writes M · N elements


def copy_matrix(x, out):
    if x.stride(0) < x.stride(1):
        x, out = x.T, out.T
    (M, N), BLOCK_SIZE = x.shape, 128
    grid = (M, triton.cdiv(N, BLOCK_SIZE))  # a program for each row and each 128 of its columns
    copy_matrix_kernel[grid](x, out, M, N, *x.stride(), *out.stride(), BLOCK_SIZE)
