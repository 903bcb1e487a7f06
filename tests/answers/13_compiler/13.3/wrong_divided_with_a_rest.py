# expects: `/` gives a float
# Exercise 13.3
@triton.jit
def double_quads_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """out = 2 x; n_elements is a multiple of 4."""
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs // 4 < n_elements / 4  # ______ instead: offs < n_elements

    x = tl.load(x_ptr + offs, mask=mask)

    tl.store(out_ptr + offs, 2 * x, mask=mask)


def double_quads(x, out):
    n_elements, BLOCK_SIZE = x.numel(), 1024
    double_quads_kernel[(triton.cdiv(n_elements, BLOCK_SIZE),)](x, out, n_elements, BLOCK_SIZE, num_warps=4)
