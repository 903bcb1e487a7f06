# Exercise 2.7
@triton.jit
def copy_pages_kernel(x_ptr, starts_ptr, out_ptr, PAGE_SIZE: tl.constexpr):
    """out[p] = x[starts[p] : starts[p] + PAGE_SIZE]; each program copies one page."""
    page = tl.program_id(0)
    offs = tl.arange(0, PAGE_SIZE)
    source = tl.load(starts_ptr + page) + offs
    source = tl.max_contiguous(tl.multiple_of(source, 16), 16)
    tl.store(out_ptr + page * PAGE_SIZE + offs, tl.load(x_ptr + source))


def copy_pages(x, starts, page_size, out):
    num_warps = {128: 1, 256: 2, 512: 4}[page_size]
    copy_pages_kernel[(out.shape[0],)](x, starts, out, page_size, num_warps=num_warps)
