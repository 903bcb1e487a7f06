# expects: Each matrix counts once: but how many tiles of c load the same rows of a?
# Exercise 9.2
def bytes_moved(M, N, K, BLOCK_M, BLOCK_N, itemsize):
    """Bytes that a tiled product loads and stores."""
    from_a = M * K
    from_b = K * N
    return itemsize * (from_a + from_b + M * N)
