# expects: dw takes dy itself
# Exercise 8.4b
@triton.jit
def rmsnorm_backward_kernel(
    x_ptr, w_ptr, dy_ptr, dx_ptr, partial_ptr,
    n_rows, n_cols, eps,
    stride_xm, stride_xn, stride_w, stride_dym, stride_dyn, stride_dxm, stride_dxn,
    BLOCK_SIZE: tl.constexpr, NUM_STAGES: tl.constexpr,
):
    """dx of rows pid, pid + G, ..., and their part of dw; G programs in all."""
    pid = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK_SIZE).to(tl.int64)
    mask = offs < n_cols

    w = tl.load(w_ptr + offs * stride_w, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for row in tl.range(pid, n_rows, tl.num_programs(0), num_stages=NUM_STAGES):
        x = tl.load(x_ptr + row * stride_xm + offs * stride_xn, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * stride_dym + offs * stride_dyn, mask=mask, other=0.0).to(tl.float32)

        rstd = tl.rsqrt(tl.sum(x * x) / n_cols + eps)
        x_hat, g = x * rstd, dy * w
        dx = rstd * (g - x_hat * (tl.sum(g * x_hat) / n_cols))
        dw += g * x_hat

        tl.store(dx_ptr + row * stride_dxm + offs * stride_dxn, dx, mask=mask)

    tl.store(partial_ptr + pid * n_cols + offs, dw, mask=mask)


def rmsnorm_backward(x, w, dy, dx, dw, num_stages=3):
    (n_rows, n_cols), G = x.shape, programs_for(x)
    partial = torch.empty((G, n_cols), dtype=torch.float32, device=x.device)
    BLOCK_SIZE = max(16, triton.next_power_of_2(n_cols))
    num_warps = 8 if BLOCK_SIZE <= 4096 else 16
    strides = (*x.stride(), w.stride(0), *dy.stride(), *dx.stride())
    sizes = (n_rows, n_cols, EPS)
    rmsnorm_backward_kernel[(G,)](x, w, dy, dx, partial, *sizes, *strides, BLOCK_SIZE, num_stages, num_warps=num_warps)
    sum_rows(partial, dw)
