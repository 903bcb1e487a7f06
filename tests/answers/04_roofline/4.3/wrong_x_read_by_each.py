# expects: others = (0, 0, 0)
# expects: is on the chip: it is not read
# Exercise 4.3
def chain_bytes(nbytes, others):
    """In one kernel every operation reads x."""
    separate = (2 * len(others) + sum(others)) * nbytes
    fused = (1 + len(others) + sum(others)) * nbytes
    return separate, fused
