# expects: p overwrites the scores
# Exercise 6.7
def cdiv(a, b):
    return -(-a // b)  # a / b, rounded up


def ledger(n, d, block_q, block_k):
    """Numbers moved by the standard form and by the blockwise one, and numbers that the latter keeps in fast memory."""
    standard = 4 * n * d + 4 * n * n
    flash = 2 * n * d + cdiv(n, block_q) * 2 * n * d
    fast = 2 * block_q * d + 2 * block_k * d + 2 * block_q * block_k
    return standard, flash, fast
