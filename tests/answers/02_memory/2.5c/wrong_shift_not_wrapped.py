# expects: the largest result is 62, expected 31
# expects: leaves its row
# Exercise 2.5c
def swizzle(row, col):
    """Place within its row of the element that belongs to column col."""
    return col + row  # ______ 0 to 31
