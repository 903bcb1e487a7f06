# expects: has 4 exponentials, and 3 would do
# Exercise 8.2
@triton.jit
def softmax_long_kernel(
    x_ptr, out_ptr,
    n_cols,
    stride_xm, stride_xn, stride_om, stride_on,
    BLOCK_SIZE: tl.constexpr,
):
    """out[m] = softmax of row m of x; each program takes one row, and each lane a part of it."""
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK_SIZE).to(tl.int64)

    m_i = tl.full([BLOCK_SIZE], LOWEST, dtype=tl.float32)  # [BLOCK_SIZE], no score seen
    l_i = tl.zeros([BLOCK_SIZE], dtype=tl.float32)  # [BLOCK_SIZE], nothing summed
    for start in tl.range(0, n_cols, BLOCK_SIZE, num_stages=3):
        offs = start + lanes
        x_ptrs = x_ptr + row * stride_xm + offs * stride_xn
        x = tl.load(x_ptrs, mask=offs < n_cols, other=-float("inf")).to(tl.float32)  # reads n in all
        m_new = tl.maximum(m_i, x)  # the one exponential that a lane needs
        l_i = l_i * tl.exp(m_i - m_new) + tl.exp(x - m_new)  # the sum, measured against the new maximum
        m_i = m_new  # the largest score of each lane so far

    m = tl.max(m_i)  # the largest score of the row
    l = tl.sum(l_i * tl.exp2((m_i - m) * LOG2E))  # the sums of all lanes, measured against m
    scale = 1.0 / tl.maximum(l, 1.0)  # the only division of the row
    last = (n_cols - 1) // BLOCK_SIZE * BLOCK_SIZE
    for start in range(0, n_cols, BLOCK_SIZE):
        offs = last - start + lanes  # from the end of the row
        x_ptrs = x_ptr + row * stride_xm + offs * stride_xn
        x = tl.load(x_ptrs, mask=offs < n_cols, other=-float("inf")).to(tl.float32)  # reads n in all
        p = tl.exp2((x - m) * LOG2E) * scale  # the weights
        tl.store(out_ptr + row * stride_om + offs * stride_on, p, mask=offs < n_cols)  # writes n


def softmax_long(x, out):
    n_rows, n_cols = x.shape
    softmax_long_kernel[(n_rows,)](x, out, n_cols, *x.stride(), *out.stride(), BLOCK_SIZE=8192, num_warps=16)
