# expects: That counts whole tiles; lanes that the mask switches off move nothing.
# Exercise 9.2
def bytes_moved(M, N, K, BLOCK_M, BLOCK_N, itemsize):
    """Bytes that a tiled product loads and stores."""
    from_a = triton.cdiv(M, BLOCK_M) * BLOCK_M * K * triton.cdiv(N, BLOCK_N)
    from_b = triton.cdiv(N, BLOCK_N) * BLOCK_N * K * triton.cdiv(M, BLOCK_M)
    return itemsize * (from_a + from_b + M * N)
