# expects: how many programs does it take for n_elements?
# Exercise 3.4
@triton.jit
def scale_shift_kernel(
    x_ptr, log_scale_ptr, shift_ptr, out_ptr,
    n_elements,
    TILES: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):
    """out = x exp(log_scale) + shift; each program computes TILES tiles of BLOCK_SIZE elements."""
    scale = tl.exp(tl.load(log_scale_ptr))  # reads 1
    shift = tl.load(shift_ptr)  # reads 1

    first = tl.program_id(0) * TILES * BLOCK_SIZE
    for tile in tl.static_range(TILES):
        offs = first + tile * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        mask = offs < n_elements
        x = tl.load(x_ptr + offs, mask=mask)
        tl.store(out_ptr + offs, x * scale + shift, mask=mask)


def scale_shift(x, log_scale, shift, out):
    n_elements, TILES, BLOCK_SIZE = out.numel(), 4, 512
    grid = (TILES, BLOCK_SIZE)
    scale_shift_kernel[grid](x, log_scale, shift, out, n_elements, TILES, BLOCK_SIZE)
