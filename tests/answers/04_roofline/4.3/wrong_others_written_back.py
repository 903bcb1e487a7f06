# expects: others = (1,)
# expects: separate is 32, expected 24.
# expects: read, and not written
# Exercise 4.3
def chain_bytes(nbytes, others):
    """Other arrays are written as well."""
    separate = 2 * (len(others) + sum(others)) * nbytes
    fused = (2 + sum(others)) * nbytes
    return separate, fused
