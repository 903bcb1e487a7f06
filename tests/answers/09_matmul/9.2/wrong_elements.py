# expects: These are elements: how many bytes has each?
# Exercise 9.2
def bytes_moved(M, N, K, BLOCK_M, BLOCK_N, itemsize):
    """Bytes that a tiled product loads and stores."""
    from_a = M * K * triton.cdiv(N, BLOCK_N)
    from_b = K * N * triton.cdiv(M, BLOCK_M)
    return from_a + from_b + M * N
