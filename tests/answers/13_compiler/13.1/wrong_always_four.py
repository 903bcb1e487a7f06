# expects: That is right for numbers of 4 bytes
# Exercise 13.1
def of_one_lane(BLOCK_SIZE, num_warps, itemsize):
    """How many numbers of a tile one lane holds, and how many instructions load them."""
    numbers = max(1, BLOCK_SIZE // (32 * num_warps))
    vector = min(numbers, 4)
    return numbers, numbers // vector
