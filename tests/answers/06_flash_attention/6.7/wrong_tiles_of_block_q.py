# expects: k_j and v_j have block_k rows
# Exercise 6.7
def cdiv(a, b):
    return -(-a // b)  # a / b, rounded up


def ledger(n, d, block_q, block_k):
    """Numbers moved by the standard form and by the blockwise one, and numbers that the latter keeps in fast memory."""
    standard = 4 * n * d + 4 * n * n
    flash = 2 * n * d + cdiv(n, block_q) * 2 * n * d
    fast = 4 * block_q * d + block_q**2
    return standard, flash, fast
