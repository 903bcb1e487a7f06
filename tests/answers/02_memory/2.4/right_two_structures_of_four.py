# Exercise 2.4
def place(i, field, n):
    """Where this field of the particles i lies, in floats; there are n particles."""
    group, member = divmod((field - 3) % 8, 4)
    return group * 4 * n + 4 * i + member
