# expects: the first block along K alone
# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """c = a @ b, one tile of c at a time; blocks of a and b are read through the counter."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.zeros((M, N), np.float32)
    for rows in blocks(M, block_m):
        for cols in blocks(N, block_n):
            for ks in blocks(block_k, K):
                a_block = counter.load(a, rows, ks)  # [block_m, block_k]
                b_block = counter.load(b, ks, cols)  # [block_k, block_n]
                c[rows, cols] += a_block @ b_block
    return c
