# Exercise 2.1
def count_transactions(addresses, itemsize, segment):
    """How many aligned pieces of `segment` bytes the lanes touch."""
    touched = set()
    for address in addresses:
        touched |= set(range(int(address) // segment, (int(address) + itemsize - 1) // segment + 1))
    return len(touched)
