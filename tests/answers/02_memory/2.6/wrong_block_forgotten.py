# expects: both stored
# expects: How many columns lie before those of tile 1?
# Exercise 2.6
@triton.jit
def copy_matrix_kernel(
    x_ptr, out_ptr,
    M, N,
    stride_xm, stride_xn, stride_om, stride_on,
    BLOCK_SIZE: tl.constexpr,
):
    """out = x; each program copies BLOCK_SIZE elements that are neighbours in memory."""
    rows = tl.program_id(0)  # ______ the row or rows of this program
    cols = tl.program_id(1) + tl.arange(0, BLOCK_SIZE)  # ______ its column or columns
    mask = cols < N  # ______ which of its elements exist

    x = tl.load(x_ptr + rows * stride_xm + cols * stride_xn, mask=mask)  # reads M N
    tl.store(out_ptr + rows * stride_om + cols * stride_on, x, mask=mask)  # writes M N


def copy_matrix(x, out):
    if x.stride(0) < x.stride(1):  # ______ do neighbours in memory lie below each other?
        x, out = x.T, out.T
    (M, N), BLOCK_SIZE = x.shape, 128
    grid = (M, triton.cdiv(N, BLOCK_SIZE))  # ______ how many programs along each axis
    copy_matrix_kernel[grid](x, out, M, N, *x.stride(), *out.stride(), BLOCK_SIZE)
