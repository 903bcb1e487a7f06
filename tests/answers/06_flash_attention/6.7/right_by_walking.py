# Exercise 6.7
def cdiv(a, b):
    return int(np.ceil(a / b))


def ledger(n, d, block_q, block_k):
    """Adds up block by block."""
    flash = sum((rows.stop - rows.start) * d * 2 + 2 * n * d for rows in blocks(n, block_q))
    return 4 * n * (n + d), flash, (block_q + block_k) * 2 * d + block_q * block_k
