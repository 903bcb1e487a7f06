# expects: separate is 2, expected 16.
# expects: each of them takes nbytes
# Exercise 4.3
def chain_bytes(nbytes, others):
    """Arrays, not bytes."""
    separate = 2 * len(others) + sum(others)
    fused = 2 + sum(others)
    return separate, fused
