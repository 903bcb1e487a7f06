# expects: others = (1,)
# expects: The other arrays are read as well.
# Exercise 4.3
def chain_bytes(nbytes, others):
    """Results are not written."""
    separate = 2 * nbytes * len(others)
    fused = (2 + sum(others)) * nbytes
    return separate, fused
