# Exercise 8.4a
@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, n_rows, n_cols, eps, xm, xn, sw, om, on, ROWS: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    """Two rows a program; the root by tl.sqrt."""
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    cols = tl.arange(0, BLOCK_SIZE)[None, :]
    mask = (rows < n_rows) & (cols < n_cols)
    x = tl.load(x_ptr + rows * xm + cols * xn, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + cols * sw, mask=cols < n_cols, other=0)
    root = tl.sqrt(tl.sum(x * x / n_cols, axis=1) + eps)
    tl.store(out_ptr + rows * om + cols * on, x / root[:, None] * w, mask=mask)


def rmsnorm(x, w, out):
    (n_rows, n_cols), ROWS = x.shape, 2
    strides = (*x.stride(), w.stride(0), *out.stride())
    rmsnorm_kernel[(triton.cdiv(n_rows, ROWS),)](x, w, out, n_rows, n_cols, 1e-6, *strides, ROWS, max(16, triton.next_power_of_2(n_cols)))
