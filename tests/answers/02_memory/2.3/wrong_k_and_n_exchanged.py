# expects: a column, short rows
# expects: length of a row of A: is it K or N?
# Exercise 2.3
def matmul_sectors(rows, cols, k, K, N):
    """Sectors of A and B in step k, and of C at the end; the warp owns C[rows, cols]."""
    c = 4 * (rows * N + cols)  # addresses in C, [32]
    a = 4 * (rows * N + k)
    b = 4 * (k * K + cols)

    return tuple(count_transactions(addresses, 4, 32) for addresses in (a, b, c))
