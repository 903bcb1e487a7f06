# expects: M = 8, N = 12, K = 4, block_m = 2
# expects: elements are read and written
# expects: The values are right, but
# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """Tiles of block_m x block_m."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.zeros((M, N), np.float32)
    for rows in blocks(M, block_m):
        for cols in blocks(N, block_m):
            for ks in blocks(K, block_k):
                c[rows, cols] += counter.load(a, rows, ks) @ counter.load(b, ks, cols)
    return c
