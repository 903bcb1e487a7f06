# expects: M = 24, N = 40, K = 1000
# expects: Keep one block at a time
# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """Keeps a whole strip of a."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.zeros((M, N), np.float32)
    for rows in blocks(M, block_m):
        strip = counter.load(a, rows, slice(0, K))
        for cols in blocks(N, block_n):
            for ks in blocks(K, block_k):
                c[rows, cols] += strip[:, ks] @ counter.load(b, ks, cols)
    return c
