# Exercise 2.4
def place(i, field, n):
    """Where this field of the particles i lies, in floats; there are n particles."""
    return i // 32 * 256 + 32 * field + i % 32
