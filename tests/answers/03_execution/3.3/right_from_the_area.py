# By the area alone, backwards from the largest block.
# Exercise 3.3
def fewest_warps(BLOCK_M, BLOCK_N):
    area = BLOCK_M * BLOCK_N
    fitting = [w for w in (16, 8, 4) if area < 32 * w * min(255, 2048 // w)]
    return fitting[-1] if fitting else 0
