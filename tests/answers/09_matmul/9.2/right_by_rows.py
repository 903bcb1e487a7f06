# Exercise 9.2
def bytes_moved(M, N, K, BLOCK_M, BLOCK_N, itemsize):
    """Bytes that a tiled product loads and stores."""
    from_a = sum(K for row in range(M)) * -(-N // BLOCK_N)
    from_b = N * K * len(range(0, M, BLOCK_M))
    return itemsize * (from_a + from_b + M * N)
