# Exercise 2.5c
def swizzle(row, col):
    """Place within its row of the element that belongs to column col."""
    return (5 * col - 3 * row) % 32
