# expects: expected -inf
# Exercise 7.7a
@triton.jit
def row_max_kernel(
    x_ptr, out_ptr,
    n_cols,
    stride_xm, stride_xn, stride_out,
    BLOCK_SIZE: tl.constexpr,
):
    """out[m] = the largest value of row m; each program takes one row as one tile."""
    row = tl.program_id(0)

    offs = tl.arange(0, BLOCK_SIZE)
    mask = offs < n_cols
    x_ptrs = x_ptr + row * stride_xm + offs * stride_xn

    x = tl.load(x_ptrs, mask=mask, other=-1e9)

    tl.store(out_ptr + row * stride_out, tl.max(x))


def row_max(x, out):
    n_rows, n_cols = x.shape
    BLOCK_SIZE = triton.next_power_of_2(n_cols)
    row_max_kernel[(n_rows,)](x, out, n_cols, *x.stride(), out.stride(0), BLOCK_SIZE)
