# expects: That is one address
# Exercise 2.2
def efficiency(stride, itemsize, segment):
    """Share of the moved bytes that a warp asked for; lane i reads item i * stride."""
    addresses = stride * itemsize * 31
    moved = segment * count_transactions(addresses, itemsize, segment)

    return 32 * itemsize / moved
