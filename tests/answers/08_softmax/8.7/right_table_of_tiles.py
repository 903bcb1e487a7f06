# Exercise 8.7
def choose_num_warps(n_cols):
    """How many warps share a row of softmax_kernel: a power of two, 1 to 32."""
    warps = {256: 1, 512: 1, 1024: 2, 2048: 4, 4096: 4, 8192: 8, 16_384: 32, 32_768: 32}
    return warps[triton.next_power_of_2(n_cols)]


def softmax_tuned(x, out):
    n_rows, n_cols = x.shape
    BLOCK_SIZE = max(16, triton.next_power_of_2(n_cols))
    num_warps = choose_num_warps(n_cols)
    softmax_kernel[(n_rows,)](x, out, n_cols, *x.stride(), *out.stride(), BLOCK_SIZE, num_warps=num_warps)
