# expects: The line below multiplies by itemsize already
# Exercise 4.4
def tiled_work(M, N, K, block_m, block_n, itemsize):
    """Bytes for elements."""
    from_a = itemsize * M * K * cdiv(N, block_n)
    from_b = itemsize * K * N * cdiv(M, block_m)
    nbytes = itemsize * (from_a + from_b + M * N)

    intensity = 2 * M * N * K / nbytes
    return nbytes, intensity
