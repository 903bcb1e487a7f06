# expects: once for all tiles
# Exercise 4.4
def tiled_work(M, N, K, block_m, block_n, itemsize):
    """a and b are loaded once."""
    from_a = M * K
    from_b = K * N
    nbytes = itemsize * (from_a + from_b + M * N)

    intensity = 2 * M * N * K / nbytes
    return nbytes, intensity
