# expects: 32 of 32 elements are read without the counter
# expects: counter.load(matrix, rows, cols)
# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """Blocks, but read without the counter."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.zeros((M, N), np.float32)
    for rows in blocks(M, block_m):
        for cols in blocks(N, block_n):
            for ks in blocks(K, block_k):
                c[rows, cols] += a[rows, ks] @ b[ks, cols]
    return c
