# expects: intensity is 2.4, expected 0.416667. (nbytes is right.)
# expects: It is upside down
# Exercise 4.4
def tiled_work(M, N, K, block_m, block_n, itemsize):
    """Bytes for a FLOP."""
    from_a = M * K * cdiv(N, block_n)
    from_b = K * N * cdiv(M, block_m)
    nbytes = itemsize * (from_a + from_b + M * N)

    intensity = nbytes / (2 * M * N * K)
    return nbytes, intensity
