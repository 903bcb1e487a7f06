# expects: A segment has a whole number
# Exercise 2.1
def count_transactions(addresses, itemsize, segment):
    """How many aligned pieces of `segment` bytes the lanes touch."""
    addresses = np.asarray(addresses, dtype=np.int64)  # a float keeps only 53 bits of an address

    first = addresses / segment
    last = (addresses + itemsize - 1) / segment
    return np.union1d(first, last).size
