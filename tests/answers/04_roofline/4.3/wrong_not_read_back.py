# expects: separate is 32, expected 48.
# expects: the next kernel reads it back
# Exercise 4.3
def chain_bytes(nbytes, others):
    """What is in between is written, and not read."""
    separate = (1 + len(others) + sum(others)) * nbytes
    fused = (2 + sum(others)) * nbytes
    return separate, fused
