# Exercise 1.2
def grid_size(n, block):
    """Rounding down upside down, and the idle threads as a remainder of a negative number."""
    return -(-n // block), -n % block
