# expects: `row * stride_ym`
# Exercise 8.3
@triton.jit
def softmax_backward_kernel(
    y_ptr, dy_ptr, dx_ptr,
    n_cols,
    stride_ym, stride_yn, stride_dym, stride_dyn, stride_dxm, stride_dxn,
    BLOCK_SIZE: tl.constexpr,
):
    """dx[m] = y[m] (dy[m] - sum of y[m] dy[m]); each program takes one row as one tile."""
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK_SIZE).to(tl.int64)
    mask = offs < n_cols

    y = tl.load(y_ptr + offs * stride_yn, mask=mask, other=0.0).to(tl.float32)  # reads n
    dy = tl.load(dy_ptr + row * stride_dym + offs * stride_dyn, mask=mask, other=0.0).to(tl.float32)  # reads n

    dx = y * (dy - tl.sum(y * dy))

    tl.store(dx_ptr + row * stride_dxm + offs * stride_dxn, dx, mask=mask)  # writes n


def softmax_backward(y, dy, dx):
    n_rows, n_cols = y.shape
    BLOCK_SIZE = max(16, triton.next_power_of_2(n_cols))
    strides = (*y.stride(), *dy.stride(), *dx.stride())
    num_warps = 4 if BLOCK_SIZE <= 2048 else 16
    softmax_backward_kernel[(n_rows,)](y, dy, dx, n_cols, *strides, BLOCK_SIZE, num_warps=num_warps)
