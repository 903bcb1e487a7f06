# expects: intensity is 0.208333, expected 0.416667.
# expects: It should be 2 times as large.
# Exercise 4.4
def tiled_work(M, N, K, block_m, block_n, itemsize):
    """One FLOP for a multiply-add."""
    from_a = M * K * cdiv(N, block_n)
    from_b = K * N * cdiv(M, block_m)
    nbytes = itemsize * (from_a + from_b + M * N)

    intensity = M * N * K / nbytes
    return nbytes, intensity
