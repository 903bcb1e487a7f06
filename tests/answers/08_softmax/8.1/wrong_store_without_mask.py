# expects: no mask
# Exercise 8.1
@triton.jit
def softmax_kernel(
    x_ptr, out_ptr,
    n_cols,
    stride_xm, stride_xn, stride_om, stride_on,
    BLOCK_SIZE: tl.constexpr,
):
    """out[m] = softmax of row m of x; each program takes one row as one tile."""
    row = tl.program_id(0).to(tl.int64)
    offs = tl.arange(0, BLOCK_SIZE).to(tl.int64)
    mask = offs < n_cols

    x_ptrs = x_ptr + row * stride_xm + offs * stride_xn  # where the row lies, [BLOCK_SIZE]
    x = tl.load(x_ptrs, mask=mask, other=-float("inf")).to(tl.float32)  # reads n, and makes it float32

    m = tl.maximum(tl.max(x), LOWEST)  # the largest score, LOWEST at least
    p = tl.exp(x - m)  # [BLOCK_SIZE], none above 1
    l = tl.maximum(tl.sum(p), 1.0)  # the sum of the exponentials, 1 at least

    tl.store(out_ptr + row * stride_om + offs * stride_on, p / l)  # writes n


def softmax(x, out):
    n_rows, n_cols = x.shape
    BLOCK_SIZE = max(16, triton.next_power_of_2(n_cols))
    num_warps = 4 if BLOCK_SIZE <= 4096 else 16  # found by trying; exercise 8.7 finds it by reading
    softmax_kernel[(n_rows,)](x, out, n_cols, *x.stride(), *out.stride(), BLOCK_SIZE, num_warps=num_warps)
