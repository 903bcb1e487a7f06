# expects: turns for a column
# Exercise 2.5c
def swizzle(row, col):
    """Place within its row of the element that belongs to column col."""
    return 31 - col  # ______ 0 to 31
