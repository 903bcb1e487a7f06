# expects: 128 x 128
# expects: 0, expected 4
# Exercise 3.3
def fewest_warps(BLOCK_M, BLOCK_N):
    """The fewest warps, 4, 8 or 16, whose registers hold a tile of floats; 0 when none do."""
    for num_warps in (4, 8, 16):
        values = BLOCK_M * BLOCK_N // (32 * num_warps)
        registers = min(255, 65_536 // 4 // (32 * num_warps))
        if values < registers:
            return num_warps
    return 0
