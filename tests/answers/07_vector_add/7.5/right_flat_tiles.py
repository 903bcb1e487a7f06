# One-dimensional tiles; row and column by division.
# Exercise 7.5
@triton.jit
def flat_kernel(x_ptr, y_ptr, out_ptr, M, N, stride_x, stride_y, stride_om, stride_on, TILE: tl.constexpr):
    """The matrix as one long line; each element works out its row and column."""
    place = tl.program_id(0) * TILE + tl.arange(0, TILE)
    mask = place < M * N
    m, n = place // N, place % N
    total = tl.load(x_ptr + m * stride_x, mask=mask) + tl.load(y_ptr + n * stride_y, mask=mask)
    tl.store(out_ptr + m * stride_om + n * stride_on, total, mask=mask)


def outer_sum(x, y, out):
    M, N = out.shape
    flat_kernel[(triton.cdiv(M * N, 512),)](x, y, out, M, N, x.stride(0), y.stride(0), *out.stride(), TILE=512)
