# expects: all items have 4 bytes
# Exercise 2.2
def efficiency(stride, itemsize, segment):
    """Share of the moved bytes that a warp asked for; lane i reads item i * stride."""
    addresses = np.arange(32) * stride * 4  # ______ byte address of each lane, [32]
    moved = segment * count_transactions(addresses, itemsize, segment)  # ______ in bytes

    return 32 * itemsize / moved
