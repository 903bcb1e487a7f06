# Exercise 2.2
def efficiency(stride, itemsize, segment):
    """Share of the moved bytes that a warp asked for; lane i reads item i * stride."""
    step = stride * itemsize
    moved = 32 * segment if step >= segment else segment * -(-(31 * step + itemsize) // segment)
    return 32 * itemsize / moved
