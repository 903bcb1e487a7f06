# expects: every lane still has one
# Exercise 13.1
def of_one_lane(BLOCK_SIZE, num_warps, itemsize):
    """How many numbers of a tile one lane holds, and how many instructions load them."""
    numbers = BLOCK_SIZE / (32 * num_warps)
    vector = min(max(1, numbers), 16 // itemsize)
    return numbers, max(1, numbers) // vector
