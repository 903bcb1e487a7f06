# expects: IndexError
# expects: how many lie before the first one of `field`?
# Exercise 2.4
def place(i, field, n):
    """Where this field of the particles i lies, in floats; there are n particles."""
    return i * n + field
