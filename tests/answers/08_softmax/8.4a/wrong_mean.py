# expects: divide a `tl.sum`
# Exercise 8.4a
@triton.jit
def rmsnorm_kernel(
    x_ptr, w_ptr, out_ptr,
    n_cols, eps,
    stride_xm, stride_xn, stride_w, stride_om, stride_on,
    BLOCK_SIZE: tl.constexpr,
):
    """out[m] = x[m] / sqrt(mean(x[m]²) + eps) * w; each program normalises one row."""
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK_SIZE).to(tl.int64)
    mask = offs < n_cols

    x_ptrs = x_ptr + row * stride_xm + offs * stride_xn
    x = tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32)  # reads N, as float32
    w = tl.load(w_ptr + offs * stride_w, mask=mask, other=0.0)  # reads N, from the L2 cache

    mean_square = tl.mean(x * x)  # one number, of the elements that exist
    rstd = tl.rsqrt(mean_square + eps)  # one number
    out = x * rstd * w  # [BLOCK_SIZE]

    tl.store(out_ptr + row * stride_om + offs * stride_on, out, mask=mask)  # writes N


def rmsnorm(x, w, out):
    n_rows, n_cols = x.shape
    BLOCK_SIZE = max(16, triton.next_power_of_2(n_cols))
    num_warps = 4 if BLOCK_SIZE <= 4096 else 16
    strides = (*x.stride(), w.stride(0), *out.stride())
    rmsnorm_kernel[(n_rows,)](x, w, out, n_cols, EPS, *strides, BLOCK_SIZE, num_warps=num_warps)
