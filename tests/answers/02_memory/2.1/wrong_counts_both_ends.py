# expects: Each lane counts twice
# Exercise 2.1
def count_transactions(addresses, itemsize, segment):
    """How many aligned pieces of `segment` bytes the lanes touch."""
    addresses = np.asarray(addresses, dtype=np.int64)

    first = addresses // segment  # in which segment the first byte of each item lies
    last = (addresses + itemsize - 1) // segment  # and its last byte
    touched = np.append(first, last)
    return touched.size
