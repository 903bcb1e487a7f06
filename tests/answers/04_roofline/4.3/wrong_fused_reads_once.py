# expects: nbytes = 8, others = (1,)
# expects: fused is 16, expected 24. (separate is right.)
# expects: read by the fused kernel as well
# Exercise 4.3
def chain_bytes(nbytes, others):
    """The fused kernel reads x alone."""
    separate = (2 * len(others) + sum(others)) * nbytes
    fused = 2 * nbytes
    return separate, fused
