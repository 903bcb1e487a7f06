# expects: Each segment moves `segment` bytes
# Exercise 2.2
def efficiency(stride, itemsize, segment):
    """Share of the moved bytes that a warp asked for; lane i reads item i * stride."""
    addresses = np.arange(32) * stride * itemsize
    moved = itemsize * count_transactions(addresses, itemsize, segment)

    return 32 * itemsize / moved
