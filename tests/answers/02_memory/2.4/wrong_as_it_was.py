# expects: sectors is 32, expected 16
# expects: energy is right
# expects: shares sectors with what is not
# Exercise 2.4
def place(i, field, n):
    """Where this field of the particles i lies, in floats; there are n particles."""
    return 8 * i + field
