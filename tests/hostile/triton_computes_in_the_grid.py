# exercise: 7.7a
# expects: the launcher lets torch compute
# others: pass
# The grid is a function, which is called in the middle of the launch: there torch computes what the kernel then copies.
@triton.jit
def row_max_kernel(best_ptr, out_ptr, n_rows, stride_out, BLOCK_SIZE: tl.constexpr):
    offs = tl.arange(0, BLOCK_SIZE)
    tl.store(out_ptr + offs * stride_out, tl.load(best_ptr + offs, mask=offs < n_rows), mask=offs < n_rows)


def row_max(x, out):
    best = torch.empty(x.shape[0])

    def grid(meta):
        torch.amax(x, 1, out=best)
        return (1,)

    row_max_kernel[grid](best, out, x.shape[0], out.stride(0), BLOCK_SIZE=8)
