# Exercise 2.3
def matmul_sectors(rows, cols, k, K, N):
    """Sectors of A and of B in step k, and of C at the end, for a warp that owns C[rows, cols]."""
    steps = np.full(32, k)
    wanted = {"A": (rows, steps, K), "B": (steps, cols, N), "C": (rows, cols, N)}
    return tuple(np.unique((r * length + c) // 8).size for r, c, length in wanted.values())
