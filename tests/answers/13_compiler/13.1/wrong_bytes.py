# expects: Those are bytes
# Exercise 13.1
def of_one_lane(BLOCK_SIZE, num_warps, itemsize):
    """How many numbers of a tile one lane holds, and how many instructions load them."""
    numbers = max(1, BLOCK_SIZE * itemsize // (32 * num_warps))
    vector = 16
    return numbers, numbers // vector
