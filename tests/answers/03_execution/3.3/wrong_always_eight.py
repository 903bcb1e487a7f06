# expects: 64 x 64
# expects: Fewer warps hold this tile
# Exercise 3.3
def fewest_warps(BLOCK_M, BLOCK_N):
    return 8
