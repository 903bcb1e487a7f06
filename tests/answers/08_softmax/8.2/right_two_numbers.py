# Exercise 8.2
@triton.jit
def softmax_long_kernel(
    x_ptr, out_ptr,
    n_cols,
    stride_xm, stride_xn, stride_om, stride_on,
    BLOCK_SIZE: tl.constexpr,
):
    """Two numbers for the whole row, -inf as the first maximum, and the second loop from the end."""
    row = tl.program_id(0).to(tl.int64)
    x_row, out_row = x_ptr + row * stride_xm, out_ptr + row * stride_om
    lanes = tl.arange(0, BLOCK_SIZE).to(tl.int64)

    m_i = -float("inf")
    l_i = 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        offs = start + lanes
        x = tl.load(x_row + offs * stride_xn, mask=offs < n_cols, other=-float("inf")).to(tl.float32)
        m_new = tl.maximum(m_i, tl.max(x))
        shift = tl.where(m_new == -float("inf"), 0.0, m_new)
        l_i = l_i * tl.exp(m_i - shift) + tl.sum(tl.exp(x - shift))
        m_i = m_new

    shift = tl.where(m_i == -float("inf"), 0.0, m_i)
    scale = 1.0 / tl.where(l_i == 0.0, 1.0, l_i)
    last = (n_cols - 1) // BLOCK_SIZE * BLOCK_SIZE
    for start in range(0, n_cols, BLOCK_SIZE):
        offs = last - start + lanes
        x = tl.load(x_row + offs * stride_xn, mask=offs < n_cols, other=-float("inf")).to(tl.float32)
        tl.store(out_row + offs * stride_on, tl.exp(x - shift) * scale, mask=offs < n_cols)


def softmax_long(x, out):
    n_rows, n_cols = x.shape
    softmax_long_kernel[(n_rows,)](x, out, n_cols, *x.stride(), *out.stride(), BLOCK_SIZE=4096, num_warps=8)
