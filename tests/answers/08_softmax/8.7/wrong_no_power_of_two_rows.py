# expects: 8.7 is not right yet
# Exercise 8.7
def choose_num_warps(n_cols):
    """How many warps share a row of softmax_kernel: a power of two, 1 to 32."""
    BLOCK_SIZE = n_cols
    return min(max(BLOCK_SIZE // (32 * 16), 1), 32)


def softmax_tuned(x, out):
    n_rows, n_cols = x.shape
    BLOCK_SIZE = max(16, triton.next_power_of_2(n_cols))
    num_warps = choose_num_warps(n_cols)
    softmax_kernel[(n_rows,)](x, out, n_cols, *x.stride(), *out.stride(), BLOCK_SIZE, num_warps=num_warps)
