# expects: The values are right, but 128 elements are read and written (
# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """No tiles: each element of c loads its row and its column."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.zeros((M, N), np.float32)
    for i in range(M):
        for j in range(N):
            for ks in blocks(K, block_k):
                row, col = slice(i, i + 1), slice(j, j + 1)
                c[row, col] += counter.load(a, row, ks) @ counter.load(b, ks, col)
    return c
