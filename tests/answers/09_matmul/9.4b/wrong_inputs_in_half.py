# expects: The inputs are rounded to float16: 11 digits.
# Exercise 9.4b
@triton.jit
def square_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    """c = a @ b for n x n matrices; each program computes a tile of BLOCK x BLOCK."""
    offs_m = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    offs_n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)

    acc = tl.zeros([BLOCK, BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        offs_k = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + offs_m[:, None] * n + offs_k[None, :])
        b = tl.load(b_ptr + offs_k[:, None] * n + offs_n[None, :])
        acc += tl.dot(a.to(tl.float16), b.to(tl.float16))

    tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc)


def square(a, b, c):
    n, BLOCK = c.shape[0], 32
    square_kernel[(n // BLOCK, n // BLOCK)](a, b, c, n, BLOCK)
