# expects: others = (1, 1, 0)
# expects: fused is 21.3333, expected 32.
# Exercise 4.3
def chain_bytes(nbytes, others):
    """A third for three operations."""
    separate = (2 * len(others) + sum(others)) * nbytes
    fused = (2 * len(others) + sum(others)) * nbytes / len(others)
    return separate, fused
