# expects: 128 times what it should be, BLOCK_SIZE times
# Exercise 7.6
@triton.jit
def row_sum_kernel(
    x_ptr, out_ptr,
    n_cols,
    stride_xm, stride_xn, stride_out,
    BLOCK_SIZE: tl.constexpr,
):
    """out[m] = sum of row m of x; each program sums one row, BLOCK_SIZE columns at a time."""
    row = tl.program_id(0)
    row_ptr = x_ptr + row * stride_xm

    acc = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for start in range(0, n_cols, BLOCK_SIZE):
        offs = start + tl.arange(0, BLOCK_SIZE)
        mask = offs < n_cols
        x = tl.load(row_ptr + offs * stride_xn, mask=mask, other=0.0)
        acc += tl.sum(x)

    tl.store(out_ptr + row * stride_out, tl.sum(acc))


def row_sum(x, out):
    n_rows, n_cols = x.shape
    row_sum_kernel[(n_rows,)](x, out, n_cols, *x.stride(), out.stride(0), BLOCK_SIZE=128)
