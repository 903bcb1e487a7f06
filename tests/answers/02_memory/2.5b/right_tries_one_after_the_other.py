# Exercise 2.5b
def pitch_of(width):
    """Words from row to row, for a tile of 32 rows whose columns are free of conflicts."""
    pitch = width
    while conflict_degree(4 * pitch * np.arange(32)) > 1:
        pitch += 1
    return pitch
