# expects: eps is missing
# Exercise 8.5a
@triton.jit
def layernorm_kernel(
    x_ptr, w_ptr, b_ptr, out_ptr,
    n_cols, eps,
    stride_xm, stride_xn, stride_w, stride_b, stride_om, stride_on,
    BLOCK_SIZE: tl.constexpr,
):
    """out[m] = (x[m] - mean) / sqrt(var + eps) * w + b; each program normalises one row."""
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK_SIZE).to(tl.int64)
    mask = offs < n_cols

    x_ptrs = x_ptr + row * stride_xm + offs * stride_xn
    x = tl.load(x_ptrs, mask=mask, other=0.0).to(tl.float32)  # reads N
    w = tl.load(w_ptr + offs * stride_w, mask=mask, other=0.0)
    b = tl.load(b_ptr + offs * stride_b, mask=mask, other=0.0)

    mean = tl.sum(x) / n_cols  # one number
    centred = tl.where(mask, x - mean, 0.0)  # [BLOCK_SIZE], 0 where there is no element
    rstd = tl.rsqrt(tl.sum(centred * centred) / n_cols)  # one number
    out = centred * rstd * w + b  # [BLOCK_SIZE]

    tl.store(out_ptr + row * stride_om + offs * stride_on, out, mask=mask)  # writes N


def layernorm(x, w, b, out):
    n_rows, n_cols = x.shape
    BLOCK_SIZE = max(16, triton.next_power_of_2(n_cols))
    num_warps = 4 if BLOCK_SIZE <= 4096 else 16
    strides = (*x.stride(), w.stride(0), b.stride(0), *out.stride())
    layernorm_kernel[(n_rows,)](x, w, b, out, n_cols, EPS, *strides, BLOCK_SIZE, num_warps=num_warps)
