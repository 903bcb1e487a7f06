# expects: In `mask & offs > 0`, `&` binds before the comparison
# Exercise 7.7b
@triton.jit
def lag_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """out[i] = x[i] - x[i - 1], and out[0] = x[0]."""
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements

    x = tl.load(x_ptr + offs, mask=mask)
    x_before = tl.load(x_ptr + offs - 1, mask=mask & offs > 0, other=0.0)

    tl.store(out_ptr + offs, x - x_before, mask=mask)


def lag(x, out):
    n_elements, BLOCK_SIZE = x.numel(), 128
    grid = (triton.cdiv(n_elements, BLOCK_SIZE),)
    lag_kernel[grid](x, out, n_elements, BLOCK_SIZE)
