# expects: expected
# Exercise 2.3
def matmul_sectors(rows, cols, k, K, N):
    """Sectors of A and B in step k, and of C at the end; the warp owns C[rows, cols]."""
    a = 4 * (k * 200 + rows)  # ______ addresses in A, [32]
    b = 4 * (cols * K + k)  # ______ addresses in B, [32]
    c = 4 * (cols * 200 + rows)  # ______ addresses in C, [32]

    return tuple(count_transactions(addresses, 4, 32) for addresses in (a, b, c))
