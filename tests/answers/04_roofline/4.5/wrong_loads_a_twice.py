# expects: M = 4, N = 4, K = 4
# expects: The values are right, but 48 elements are read and written (32 of a, 16 of b), and 32 would do.
# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """Looks at a block of a before it loads it."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.zeros((M, N), np.float32)
    for rows in blocks(M, block_m):
        for cols in blocks(N, block_n):
            for ks in blocks(K, block_k):
                if counter.load(a, rows, ks).any():
                    c[rows, cols] += counter.load(a, rows, ks) @ counter.load(b, ks, cols)
    return c
