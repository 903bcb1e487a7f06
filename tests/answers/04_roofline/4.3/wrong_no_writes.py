# expects: nbytes = 8, others = (0,)
# expects: Each kernel writes its result as well.
# Exercise 4.3
def chain_bytes(nbytes, others):
    """Results are not written."""
    separate = (len(others) + sum(others)) * nbytes
    fused = (2 + sum(others)) * nbytes
    return separate, fused
