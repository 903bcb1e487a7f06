# expects: Have the two counts of tiles changed places? A row of a is loaded by the tiles of c beside each other.
# Exercise 9.2
def bytes_moved(M, N, K, BLOCK_M, BLOCK_N, itemsize):
    """Bytes that a tiled product loads and stores."""
    from_a = M * K * triton.cdiv(M, BLOCK_M)
    from_b = K * N * triton.cdiv(N, BLOCK_N)
    return itemsize * (from_a + from_b + M * N)
