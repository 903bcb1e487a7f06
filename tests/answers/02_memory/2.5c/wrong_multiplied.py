# expects: turns for a column is 32
# Exercise 2.5c
def swizzle(row, col):
    """Place within its row of the element that belongs to column col."""
    return col * (row + 1) % 32  # ______ 0 to 31
