# expects: 16 of 32 rows meet in one bank
# Exercise 2.5c
def swizzle(row, col):
    """Place within its row of the element that belongs to column col."""
    return col ^ (row % 2)  # ______ 0 to 31
