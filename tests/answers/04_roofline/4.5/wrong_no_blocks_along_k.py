# expects: M = 24, N = 40, K = 1000
# expects: Keep one block at a time
# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """No blocks along K."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.zeros((M, N), np.float32)
    for rows in blocks(M, block_m):
        for cols in blocks(N, block_n):
            c[rows, cols] = counter.load(a, rows, slice(0, K)) @ counter.load(b, slice(0, K), cols)
    return c
