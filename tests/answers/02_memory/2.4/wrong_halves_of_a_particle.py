# expects: sectors
# expects: shares sectors with what is not
# Exercise 2.4
def place(i, field, n):
    """Where this field of the particles i lies, in floats; there are n particles."""
    return field // 4 * 4 * n + 4 * i + field % 4
