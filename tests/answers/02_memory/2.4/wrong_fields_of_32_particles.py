# expects: 96 particles
# expects: That is right for 32 particles only
# Exercise 2.4
def place(i, field, n):
    """Where this field of the particles i lies, in floats; there are n particles."""
    return 32 * field + i
