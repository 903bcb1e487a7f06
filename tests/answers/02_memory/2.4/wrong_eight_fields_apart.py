# expects: energy
# expects: a field has n floats, not 8
# Exercise 2.4
def place(i, field, n):
    """Where this field of the particles i lies, in floats; there are n particles."""
    return 8 * field + i
