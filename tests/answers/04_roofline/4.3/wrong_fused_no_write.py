# expects: writes its result as well
# Exercise 4.3
def chain_bytes(nbytes, others):
    """The fused kernel writes nothing."""
    separate = (2 * len(others) + sum(others)) * nbytes
    fused = (1 + sum(others)) * nbytes
    return separate, fused
