# expects: one number for each of the particles `i`
# Exercise 2.4
def place(i, field, n):
    """Where this field of the particles i lies, in floats; there are n particles."""
    return field * n
