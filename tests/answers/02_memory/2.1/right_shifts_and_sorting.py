# Exercise 2.1
def count_transactions(addresses, itemsize, segment):
    """How many aligned pieces of `segment` bytes the lanes touch."""
    bits = segment.bit_length() - 1
    ends = np.array([[int(a), int(a) + itemsize - 1] for a in addresses], dtype=np.uint64).reshape(-1)
    ordered = np.sort(ends >> np.uint64(bits))
    return np.count_nonzero(np.diff(ordered)) + bool(ordered.size)
