# expects: sign
# Exercise 7.2
@triton.jit
def differences_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """out[i] = x[i + 1] - x[i]; x has n_elements elements, out has one less."""
    pid = tl.program_id(0)

    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements - 1

    x = tl.load(x_ptr + offs, mask=mask)
    x_next = tl.load(x_ptr + offs + 1, mask=mask)

    tl.store(out_ptr + offs, x - x_next, mask=mask)


def differences(x, out):
    n_elements, BLOCK_SIZE = x.numel(), 128
    grid = (triton.cdiv(n_elements, BLOCK_SIZE),)
    differences_kernel[grid](x, out, n_elements, BLOCK_SIZE)
