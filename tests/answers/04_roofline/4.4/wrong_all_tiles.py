# expects: No tile loads all of a and b
# Exercise 4.4
def tiled_work(M, N, K, block_m, block_n, itemsize):
    """Every tile loads all of a and b."""
    from_a = M * K * cdiv(N, block_n) * cdiv(M, block_m)
    from_b = K * N * cdiv(N, block_n) * cdiv(M, block_m)
    nbytes = itemsize * (from_a + from_b + M * N)

    intensity = 2 * M * N * K / nbytes
    return nbytes, intensity
