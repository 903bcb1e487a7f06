# expects: That is without tiles
# Exercise 4.4
def tiled_work(M, N, K, block_m, block_n, itemsize):
    """Every element of c by itself."""
    from_a = M * K * N
    from_b = K * N * M
    nbytes = itemsize * (from_a + from_b + M * N)

    intensity = 2 * M * N * K / nbytes
    return nbytes, intensity
