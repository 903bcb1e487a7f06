# Tiles that are known to the compiler of this lesson are looked up there.
# Exercise 3.3
def fewest_warps(BLOCK_M, BLOCK_N):
    for num_warps in (4, 8, 16):
        held = -(-BLOCK_M * BLOCK_N // (32 * num_warps))
        if held < 32 or (held <= 128 and not compile_tile(BLOCK_M, BLOCK_N, num_warps).spills):
            return num_warps
    return 0
