# Exercise 13.5
def expected_instruction(arch, BLOCK_M, BLOCK_N, num_warps, itemsize):
    """Give out the tile in pieces of 64 rows; when there are more groups than pieces, halve the columns."""
    k = {1: 32, 2: 16, 4: 8}[itemsize]
    if arch < 80:
        return 0, 0, 0, 0
    if arch >= 90 and not num_warps % 4 and BLOCK_M // 64:
        pieces, n = BLOCK_M // 64, BLOCK_N
        while pieces < num_warps // 4:
            pieces, n = 2 * pieces, n // 2
        return (5, 0, 0, 0) if arch == 100 else (3, 64, n, k)
    return 2, 16, 8, k
