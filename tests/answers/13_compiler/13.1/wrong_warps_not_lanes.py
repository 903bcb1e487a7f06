# expects: A warp has 32 lanes
# Exercise 13.1
def of_one_lane(BLOCK_SIZE, num_warps, itemsize):
    """How many numbers of a tile one lane holds, and how many instructions load them."""
    numbers = max(1, BLOCK_SIZE // num_warps)
    vector = min(numbers, 16 // itemsize)
    return numbers, numbers // vector
