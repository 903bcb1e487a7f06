# expects: IndexError
# expects: from 0 to 8 n - 1
# Exercise 2.4
def place(i, field, n):
    """Where this field of the particles i lies, in floats; there are n particles."""
    return 16 * i + field
