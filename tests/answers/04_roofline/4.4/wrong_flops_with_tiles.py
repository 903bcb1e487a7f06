# expects: intensity is 0.833333, expected 0.416667.
# Exercise 4.4
def tiled_work(M, N, K, block_m, block_n, itemsize):
    """FLOPs grow with the tiles."""
    from_a = M * K * cdiv(N, block_n)
    from_b = K * N * cdiv(M, block_m)
    nbytes = itemsize * (from_a + from_b + M * N)

    intensity = 2 * M * N * K * cdiv(N, block_n) / nbytes
    return nbytes, intensity
