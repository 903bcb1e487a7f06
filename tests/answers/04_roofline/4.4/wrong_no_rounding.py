# expects: M = 7, N = 11, K = 5
# expects: It is right where block_m divides M
# Exercise 4.4
def tiled_work(M, N, K, block_m, block_n, itemsize):
    """Not rounded."""
    from_a = M * K * N / block_n
    from_b = K * N * M / block_m
    nbytes = itemsize * (from_a + from_b + M * N)

    intensity = 2 * M * N * K / nbytes
    return nbytes, intensity
