# expects: M = 4, N = 12, K = 4
# expects: It is right with a single block along N, and wrong with several
# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """One accumulator for all tiles."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.zeros((M, N), np.float32)
    acc = np.zeros((block_m, block_n), np.float32)
    for rows in blocks(M, block_m):
        for cols in blocks(N, block_n):
            for ks in blocks(K, block_k):
                part = counter.load(a, rows, ks) @ counter.load(b, ks, cols)
                acc[: part.shape[0], : part.shape[1]] += part
            c[rows, cols] = acc[: part.shape[0], : part.shape[1]]
    return c
