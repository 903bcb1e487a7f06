# expects: places in use
# expects: share a place
# Exercise 2.4
def place(i, field, n):
    """Where this field of the particles i lies, in floats; there are n particles."""
    return np.clip(field - 3, -1, 4) * n + i + n
