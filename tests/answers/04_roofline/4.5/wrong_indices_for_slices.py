# expects: two slices
# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """Numbers for slices."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.zeros((M, N), np.float32)
    for i in range(0, M, block_m):
        for j in range(0, N, block_n):
            for k in range(0, K, block_k):
                c[i, j] += counter.load(a, i, k) @ counter.load(b, k, j)
    return c
