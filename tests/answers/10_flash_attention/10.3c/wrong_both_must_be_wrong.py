# expects: A kernel that spills is chosen: more than 128 B of stack
# Exercise 10.3c
def in_flight(k, BLOCK_M, BLOCK_N):
    """Scores that the programs on one SM hold at a time; 0 for a kernel that is not fit."""
    unfit = k.stack > 128 and k.tensor_core != "wgmma"  # True or False
    return 0 if unfit else k.occupancy.blocks * BLOCK_M * BLOCK_N


def choose(kernels):
    """The best tile. kernels: {(BLOCK_M, BLOCK_N, num_warps, num_stages): compiled kernel}."""
    def rank(tile):
        k = kernels[tile]
        return in_flight(k, *tile[:2]), k.occupancy.blocks  # what is compared, in order

    return max(kernels, key=rank)
