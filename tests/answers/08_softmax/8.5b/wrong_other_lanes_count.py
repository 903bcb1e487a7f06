# expects: count in the variance
# Exercise 8.5b
@triton.jit
def layernorm_backward_kernel(
    x_ptr, w_ptr, dy_ptr, dx_ptr, partial_ptr,
    n_rows, n_cols, eps,
    stride_xm, stride_xn, stride_w, stride_dym, stride_dyn, stride_dxm, stride_dxn,
    BLOCK_SIZE: tl.constexpr,
):
    """dx of rows pid, pid + G, ..., and their part of dw and db; G programs in all."""
    pid, G = tl.program_id(0).to(tl.int64), tl.num_programs(0)
    offs = tl.arange(0, BLOCK_SIZE).to(tl.int64)
    mask = offs < n_cols

    w = tl.load(w_ptr + offs * stride_w, mask=mask, other=0.0).to(tl.float32)
    dw, db = tl.zeros([BLOCK_SIZE], dtype=tl.float32), tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for row in tl.range(pid, n_rows, G, num_stages=3):
        x = tl.load(x_ptr + row * stride_xm + offs * stride_xn, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * stride_dym + offs * stride_dyn, mask=mask, other=0.0).to(tl.float32)

        centred = x - tl.sum(x) / n_cols
        rstd = tl.rsqrt(tl.sum(centred * centred) / n_cols + eps)
        x_hat, g = centred * rstd, dy * w
        dx = rstd * (g - tl.sum(g) / n_cols - x_hat * (tl.sum(g * x_hat) / n_cols))
        dw += dy * x_hat
        db += dy
        tl.store(dx_ptr + row * stride_dxm + offs * stride_dxn, dx, mask=mask)

    tl.store(partial_ptr + pid * n_cols + offs, dw, mask=mask)
    tl.store(partial_ptr + (G + pid) * n_cols + offs, db, mask=mask)


def layernorm_backward(x, w, dy, dx, dw, db):
    (n_rows, n_cols), G = x.shape, programs_for(x)
    partial = torch.empty((2 * G, n_cols), dtype=torch.float32, device=x.device)
    BLOCK_SIZE = max(16, triton.next_power_of_2(n_cols))
    num_warps = 8 if BLOCK_SIZE <= 4096 else 16
    strides = (*x.stride(), w.stride(0), *dy.stride(), *dx.stride())
    layernorm_backward_kernel[(G,)](x, w, dy, dx, partial, n_rows, n_cols, EPS, *strides, BLOCK_SIZE, num_warps=num_warps)
    sum_rows(partial[:G], dw)
    sum_rows(partial[G:], db)
