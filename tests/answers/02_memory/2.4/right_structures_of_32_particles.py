# Exercise 2.4
def pack(particles):
    """Blocks of 32 particles; in a block, field by field."""
    return particles.reshape(-1, 32, 8).transpose(0, 2, 1).reshape(-1)


def place(i, field, n):
    """Where `pack` has put this field of the particles i, [32]; there are n particles."""
    return i // 32 * 256 + 32 * field + i % 32
