# Exercise 2.4
def pack(particles):
    """The four fields of the energy, particle by particle, then the other four."""
    return np.concatenate([particles[:, 3:7].reshape(-1), particles[:, [7, 0, 1, 2]].reshape(-1)])


def place(i, field, n):
    """Where `pack` has put this field of the particles i, [32]; there are n particles."""
    group, member = divmod((field - 3) % 8, 4)
    return group * 4 * n + 4 * i + member
