# expects: in numbers, not in bytes
# Exercise 2.3
def matmul_sectors(rows, cols, k, K, N):
    """Sectors of A and B in step k, and of C at the end; the warp owns C[rows, cols]."""
    a = rows * K + k  # ______ addresses in A, [32]
    b = k * N + cols  # ______ addresses in B, [32]
    c = rows * N + cols  # ______ addresses in C, [32]

    return tuple(count_transactions(addresses, 4, 32) for addresses in (a, b, c))
