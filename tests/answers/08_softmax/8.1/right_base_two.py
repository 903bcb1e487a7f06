# Exercise 8.1
@triton.jit
def softmax_kernel(
    x_ptr, out_ptr,
    n_cols,
    stride_xm, stride_xn, stride_om, stride_on,
    BLOCK_SIZE: tl.constexpr,
):
    """Base 2, a product in place of the division, and a select for the masked row."""
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK_SIZE).to(tl.int64)
    mask = offs < n_cols

    x = tl.load(x_ptr + row * stride_xm + offs * stride_xn, mask=mask, other=float("-inf"))
    x = x.to(tl.float32)
    m = tl.max(x, axis=0)
    p = tl.where(m > float("-inf"), tl.exp2((x - tl.where(m > float("-inf"), m, 0.0)) * 1.4426950408889634), 0.0)
    l = tl.sum(p, axis=0)
    weights = p * (1.0 / tl.where(l > 0, l, 1.0))

    tl.store(out_ptr + row * stride_om + offs * stride_on, weights, mask=mask)


def softmax(x, out):
    n_rows, n_cols = x.shape
    BLOCK_SIZE = triton.next_power_of_2(n_cols)
    softmax_kernel[(n_rows,)](x, out, n_cols, *x.stride(), *out.stride(), BLOCK_SIZE)
