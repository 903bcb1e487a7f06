# expects: offs already has the program's start
# Exercise 3.6b
@triton.jit
def column_means_kernel(x_ptr, out_ptr, n_rows, n_cols, BLOCK_SIZE: tl.constexpr):
    """out[n] = mean of column n; each program owns BLOCK_SIZE columns and walks down their rows."""
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_cols

    acc = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for row in range(n_rows):
        x = tl.load(x_ptr + row * n_cols + offs + tl.program_id(0) * BLOCK_SIZE, mask=mask, other=0.0)
        acc += x
    tl.store(out_ptr + offs, acc / n_rows, mask=mask)


def column_means(x, out):
    n_rows, n_cols = x.shape
    BLOCK_SIZE = 64
    grid = (triton.cdiv(n_cols, BLOCK_SIZE),)
    column_means_kernel[grid](x, out, n_rows, n_cols, BLOCK_SIZE)
