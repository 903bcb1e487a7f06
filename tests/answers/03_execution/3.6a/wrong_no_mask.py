# expects: total
# expects: the update has no mask
# Exercise 3.6a
@triton.jit
def add_row_kernel(x_ptr, total_ptr, n_cols, BLOCK_SIZE: tl.constexpr):
    """total += a row of x; each program adds one row."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK_SIZE)
    mask = offs < n_cols

    x = tl.load(x_ptr + row * n_cols + offs, mask=mask)

    tl.atomic_add(total_ptr + offs, x)


def column_means_by_rows(x, out):
    n_rows, n_cols = x.shape
    BLOCK_SIZE = triton.next_power_of_2(n_cols)
    total = torch.zeros_like(out)
    add_row_kernel[(n_rows,)](x, total, n_cols, BLOCK_SIZE)
    divide_kernel[(1,)](total, out, n_rows, n_cols, BLOCK_SIZE)
