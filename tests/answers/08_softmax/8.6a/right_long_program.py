# Exercise 8.6a
@triton.jit
def swiglu_kernel(
    a_ptr, b_ptr, out_ptr,
    n_cols,
    stride_am, stride_an, stride_bm, stride_bn, stride_om, stride_on,
    BLOCK_SIZE: tl.constexpr,
):
    """out = a * sigmoid(a) * b; each program computes BLOCK_SIZE elements of one row."""
    n_tiles = tl.cdiv(n_cols, BLOCK_SIZE)
    row = tl.program_id(0).to(tl.int64) // n_tiles  # the row of this program
    offs = (tl.program_id(0).to(tl.int64) - row * n_tiles) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # its columns, [BLOCK_SIZE]
    mask = offs < n_cols

    a = tl.load(a_ptr + row * stride_am + offs * stride_an, mask=mask).to(tl.float32)  # reads N
    b = tl.load(b_ptr + row * stride_bm + offs * stride_bn, mask=mask).to(tl.float32)  # reads N
    out = a * tl.sigmoid(a) * b  # [BLOCK_SIZE]

    tl.store(out_ptr + row * stride_om + offs * stride_on, out, mask=mask)  # writes N


def swiglu(a, b, out):
    (n_rows, n_cols), BLOCK_SIZE = out.shape, 1024
    grid = (n_rows * triton.cdiv(n_cols, BLOCK_SIZE),)
    swiglu_kernel[grid](a, b, out, n_cols, *a.stride(), *b.stride(), *out.stride(), BLOCK_SIZE)
