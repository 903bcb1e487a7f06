# expects: takes a text first, and then values
# Exercise 7.1
@triton.jit
def vector_add_kernel(
    x_ptr, y_ptr, out_ptr,
    n_elements,
    stride_x, stride_y, stride_out,
    BLOCK_SIZE: tl.constexpr,
):
    """out = x + y; each program adds BLOCK_SIZE elements."""
    pid = tl.program_id(0)

    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    print(offs)

    x = tl.load(x_ptr + offs * stride_x, mask=mask)
    y = tl.load(y_ptr + offs * stride_y, mask=mask)

    tl.store(out_ptr + offs * stride_out, x + y, mask=mask)


def vector_add(x, y, out):
    n_elements, BLOCK_SIZE = out.numel(), 1024
    grid = (triton.cdiv(n_elements, BLOCK_SIZE),)
    vector_add_kernel[grid](x, y, out, n_elements, x.stride(0), y.stride(0), out.stride(0), BLOCK_SIZE)
