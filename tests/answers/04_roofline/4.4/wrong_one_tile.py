# expects: That is what one tile loads
# Exercise 4.4
def tiled_work(M, N, K, block_m, block_n, itemsize):
    """Bytes that a tiled GEMM moves, and its FLOPs for each of them."""
    from_a = block_m * K
    from_b = K * block_n
    nbytes = itemsize * (from_a + from_b + M * N)

    intensity = 2 * M * N * K / nbytes  # FLOP/B
    return nbytes, intensity
