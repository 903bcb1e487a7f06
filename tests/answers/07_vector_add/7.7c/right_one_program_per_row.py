# No race: the programs of a row have become one.
# Exercise 7.7c
@triton.jit
def row_kernel(x_ptr, out_ptr, n_cols, stride_xm, stride_xn, stride_om, stride_on, PART: tl.constexpr):
    """One program sums all parts of its row, and stores each when it is done."""
    row = tl.program_id(0).to(tl.int64)
    for start in range(0, n_cols, PART):
        offs = start + tl.arange(0, PART)
        x = tl.load(x_ptr + row * stride_xm + offs * stride_xn, mask=offs < n_cols, other=0)
        tl.store(out_ptr + row * stride_om + start // PART * stride_on, tl.sum(x, axis=0))


def partial_sums(x, out):
    row_kernel[(x.shape[0],)](x, out, x.shape[1], *x.stride(), *out.stride(), PART=128)
