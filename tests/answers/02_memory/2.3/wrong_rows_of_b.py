# expects: `B[k, col]`
# Exercise 2.3
def matmul_sectors(rows, cols, k, K, N):
    """Sectors of A and B in step k, and of C at the end; the warp owns C[rows, cols]."""
    a = 4 * (rows * K + k)  # ______ addresses in A, [32]
    b = 4 * (rows * N + cols)  # ______ addresses in B, [32]
    c = 4 * (rows * N + cols)  # ______ addresses in C, [32]

    return tuple(count_transactions(addresses, 4, 32) for addresses in (a, b, c))
