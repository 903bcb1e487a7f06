# expects: separate is 0, expected 16.
# expects: and writes its own
# Exercise 4.3
def chain_bytes(nbytes, others):
    """Only the other arrays count."""
    separate = sum(others) * nbytes
    fused = (2 + sum(others)) * nbytes
    return separate, fused
