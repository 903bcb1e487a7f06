# expects: memory is one row of 8 n floats
# Exercise 2.4
def pack(particles):
    """All floats in one row, [8 n], in the order in which they lie in memory."""
    return particles.T  # ______ [n, 8] -> [8 n]


def place(i, field, n):
    """Where `pack` has put this field of the particles i, [32]; there are n particles."""
    return field * n + i  # ______ [32]
