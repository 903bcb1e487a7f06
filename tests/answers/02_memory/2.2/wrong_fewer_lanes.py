# expects: fewer than 32 lanes
# Exercise 2.2
def efficiency(stride, itemsize, segment):
    """Share of the moved bytes that a warp asked for; lane i reads item i * stride."""
    addresses = np.arange(0, 32, stride) * itemsize
    moved = segment * count_transactions(addresses, itemsize, segment)

    return 32 * itemsize / moved
