# Exercise 13.1
def of_one_lane(BLOCK_SIZE, num_warps, itemsize):
    """How many numbers of a tile one lane holds, and how many instructions load them."""
    numbers = np.maximum(1, BLOCK_SIZE // (32 * num_warps))  # ______ of the tile, in one lane
    vector = min(numbers, 16 // itemsize)  # ______ numbers that one instruction loads
    return numbers, numbers // vector  # ______ numbers, loads
