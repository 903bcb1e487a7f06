# expects: where does `col` come in
# Exercise 2.5c
def swizzle(row, col):
    """Place within its row of the element that belongs to column col."""
    return row % 32  # ______ 0 to 31
