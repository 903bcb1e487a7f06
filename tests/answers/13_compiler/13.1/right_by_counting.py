# Exercise 13.1
def of_one_lane(BLOCK_SIZE, num_warps, itemsize):
    """Deals pieces out to lanes, round after round."""
    lanes = 32 * num_warps
    piece = 16 // itemsize
    while piece > 1 and piece * lanes > BLOCK_SIZE:
        piece //= 2
    rounds = len(range(0, BLOCK_SIZE, piece * lanes))
    return rounds * piece, rounds
