# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """As a GPU would: one program for each tile, in any order, and an accumulator."""
    (M, K), (K, N) = a.shape, b.shape
    c, grid = np.zeros((M, N), "f4"), (-(-M // block_m), -(-N // block_n))
    for pid in np.random.default_rng(0).permutation(grid[0] * grid[1]):
        pid_m, pid_n = divmod(int(pid), grid[1])
        rows, cols = slice(pid_m * block_m, (pid_m + 1) * block_m), slice(pid_n * block_n, (pid_n + 1) * block_n)
        acc = np.zeros(c[rows, cols].shape, np.float32)
        for start in range(0, K, block_k):
            ks = slice(start, start + block_k)
            acc += np.dot(counter.load(a, rows, ks), counter.load(b, ks, cols))
        c[rows, cols] = acc
    return c
