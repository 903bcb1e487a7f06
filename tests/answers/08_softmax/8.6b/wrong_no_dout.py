# expects: dout is missing in da
# Exercise 8.6b
@triton.jit
def swiglu_backward_kernel(
    a_ptr, b_ptr, dout_ptr, da_ptr, db_ptr,
    n_cols,
    stride_am, stride_an, stride_bm, stride_bn, stride_om, stride_on, stride_dam, stride_dan, stride_dbm, stride_dbn,
    BLOCK_SIZE: tl.constexpr,
):
    """da and db of out = a * sigmoid(a) * b; each program computes BLOCK_SIZE elements of one row."""
    n_tiles = tl.cdiv(n_cols, BLOCK_SIZE)
    row = (tl.program_id(0) // n_tiles).to(tl.int64)
    offs = tl.program_id(0) % n_tiles * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE).to(tl.int64)
    mask = offs < n_cols
    a_ptrs, b_ptrs = a_ptr + row * stride_am + offs * stride_an, b_ptr + row * stride_bm + offs * stride_bn
    dout_ptrs = dout_ptr + row * stride_om + offs * stride_on
    da_ptrs, db_ptrs = da_ptr + row * stride_dam + offs * stride_dan, db_ptr + row * stride_dbm + offs * stride_dbn

    a = tl.load(a_ptrs, mask=mask).to(tl.float32)  # reads N
    b = tl.load(b_ptrs, mask=mask).to(tl.float32)  # reads N
    dout = tl.load(dout_ptrs, mask=mask).to(tl.float32)  # reads N
    s = tl.sigmoid(a)

    tl.store(da_ptrs, b * s * (1 + a * (1 - s)), mask=mask)  # writes N
    tl.store(db_ptrs, dout * a * s, mask=mask)  # writes N


def swiglu_backward(a, b, dout, da, db):
    (n_rows, n_cols), BLOCK_SIZE = a.shape, 1024
    grid = (n_rows * triton.cdiv(n_cols, BLOCK_SIZE),)
    strides = (*a.stride(), *b.stride(), *dout.stride(), *da.stride(), *db.stride())
    swiglu_backward_kernel[grid](a, b, dout, da, db, n_cols, *strides, BLOCK_SIZE)
