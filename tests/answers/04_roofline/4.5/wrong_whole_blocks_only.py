# expects: M = 4, N = 8, K = 10
# expects: It is right where block_k divides K: look at the last block along K, the shorter one.
# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """The shorter blocks at the edges are left out."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.zeros((M, N), np.float32)
    for i in range(M // block_m):
        for j in range(N // block_n):
            rows, cols = slice(i * block_m, (i + 1) * block_m), slice(j * block_n, (j + 1) * block_n)
            for k in range(K // block_k):
                ks = slice(k * block_k, (k + 1) * block_k)
                c[rows, cols] += counter.load(a, rows, ks) @ counter.load(b, ks, cols)
    return c
