# expects: both stored out[0, 0]
# expects: luck
# Exercise 7.7c
@triton.jit
def partial_sums_kernel(
    x_ptr, out_ptr,
    n_cols,
    stride_xm, stride_xn, stride_om, stride_on,
    BLOCK_SIZE: tl.constexpr,
):
    """out[m, p] = sum of part p of row m; each program sums one part."""
    row = tl.program_id(0)
    part = tl.program_id(1)

    offs = part * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + row * stride_xm + offs * stride_xn, mask=offs < n_cols, other=0.0)

    place = part * stride_on
    tl.store(out_ptr + place, tl.sum(x))


def partial_sums(x, out):
    n_rows, n_cols = x.shape
    grid = out.shape  # a program for each row and each part
    partial_sums_kernel[grid](x, out, n_cols, *x.stride(), *out.stride(), BLOCK_SIZE=128)
