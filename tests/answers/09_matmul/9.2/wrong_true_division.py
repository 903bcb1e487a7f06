# expects: There is no part of a tile: round up, with `triton.cdiv`.
# Exercise 9.2
def bytes_moved(M, N, K, BLOCK_M, BLOCK_N, itemsize):
    """Bytes that a tiled product loads and stores."""
    from_a = M * K * N / BLOCK_N
    from_b = K * N * M / BLOCK_M
    return itemsize * (from_a + from_b + M * N)
