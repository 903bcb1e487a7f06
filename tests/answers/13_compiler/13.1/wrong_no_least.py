# expects: there are more lanes than numbers
# Exercise 13.1
def of_one_lane(BLOCK_SIZE, num_warps, itemsize):
    """How many numbers of a tile one lane holds, and how many instructions load them."""
    numbers = BLOCK_SIZE // (32 * num_warps)
    vector = max(1, min(numbers, 16 // itemsize))
    return numbers, numbers // vector
