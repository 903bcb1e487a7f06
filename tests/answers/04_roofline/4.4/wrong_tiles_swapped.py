# expects: Tiles side by side load the same rows of a
# Exercise 4.4
def tiled_work(M, N, K, block_m, block_n, itemsize):
    """Tiles below each other for a, side by side for b."""
    from_a = M * K * cdiv(M, block_m)
    from_b = K * N * cdiv(N, block_n)
    nbytes = itemsize * (from_a + from_b + M * N)

    intensity = 2 * M * N * K / nbytes
    return nbytes, intensity
