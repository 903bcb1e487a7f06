# expects: That is what one tile loads, not all of them.
# Exercise 9.2
def bytes_moved(M, N, K, BLOCK_M, BLOCK_N, itemsize):
    """Bytes that a tiled product loads and stores."""
    from_a = BLOCK_M * K
    from_b = K * BLOCK_N
    return itemsize * (from_a + from_b + M * N)
