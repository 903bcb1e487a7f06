# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """The loop along K comes first, and a block of a serves a row of tiles."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.zeros((M, N), np.float32)
    for ks in blocks(K, block_k):
        for rows in blocks(M, block_m):
            left = counter.load(a, rows, ks)
            for cols in blocks(N, block_n):
                c[rows, cols] += left @ counter.load(b, ks, cols)
    return c
