# expects: turns for a column is 32, expected 1
# expects: each row must shuffle in another way
# Exercise 2.5c
def swizzle(row, col):
    """Place within its row of the element that belongs to column col."""
    return col  # ______ 0 to 31
