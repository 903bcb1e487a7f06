# expects: pages of 128 floats
# expects: a lane loads 4 bytes
# expects: 128 lanes share 128 floats, and 16 bytes are 4 floats a lane
# Exercise 2.7
@triton.jit
def copy_pages_kernel(x_ptr, starts_ptr, out_ptr, PAGE_SIZE: tl.constexpr):
    """out[p] = x[starts[p] : starts[p] + PAGE_SIZE]; each program copies one page."""
    page = tl.program_id(0)
    start = tl.multiple_of(tl.load(starts_ptr + page), 16)  # ______ instead: tl.load(starts_ptr + page)

    offs = tl.arange(0, PAGE_SIZE)
    x = tl.load(x_ptr + start + offs)
    tl.store(out_ptr + page * PAGE_SIZE + offs, x)


def copy_pages(x, starts, page_size, out):
    num_warps = 4
    copy_pages_kernel[(len(starts),)](x, starts, out, page_size, num_warps=num_warps)
