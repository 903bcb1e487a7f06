# expects: one item of 12 bytes, from address 24 on
# expects: look at the last byte
# Exercise 2.1
def count_transactions(addresses, itemsize, segment):
    """How many aligned pieces of `segment` bytes the lanes touch."""
    addresses = np.asarray(addresses, dtype=np.int64)  # a float has fewer than 57 bits

    first = addresses // segment  # ______ in which segment the first byte of each item lies
    last = (addresses + itemsize - 1) // segment  # ______ and its last byte
    return np.unique(first).size  # ______ how many segments are among them, each counted once
