# expects: The values are right, but
# expects: Load each block once
# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """Loads a row of tiles once more."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.zeros((M, N), np.float32)
    for rows in blocks(M, block_m):
        for ks in blocks(K, block_k):
            for cols in blocks(N, block_n):
                c[rows, cols] += counter.load(a, rows, ks) @ counter.load(b, ks, cols)
        c[rows] += 0 * (counter.load(a, rows, slice(0, K)) @ counter.load(b, slice(0, K), slice(0, N)))
    return c
