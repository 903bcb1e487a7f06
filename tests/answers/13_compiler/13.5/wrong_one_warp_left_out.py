# expects: fewer than four warps
# Exercise 13.5
def expected_instruction(arch, BLOCK_M, BLOCK_N, num_warps, itemsize):
    """Version, M, N, K of the instruction that the compiler chooses for a tile."""
    if arch < 80:
        return 0, 0, 0, 0
    k = 32 // itemsize  # ______ of all instructions whose shape is known
    if arch < 90 or num_warps == 2 or BLOCK_M < 64:  # ______ when is it mma.sync?
        return 2, 16, 8, k
    if arch >= 100:
        return 5, 0, 0, 0
    groups = num_warps // 4
    down = min(groups, BLOCK_M // 64)  # warpgroups below each other
    n = BLOCK_N // (groups // down)  # ______ columns of one instruction
    return 3, 64, n, k
