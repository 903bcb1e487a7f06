# expects: n_elements = 10, BLOCK_SIZE = 4, program
# expects: An `if` drops the whole last tile
# Exercise 1.6
def vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE):
    """out = x + y, for the tile of program pid."""
    offs = pid * BLOCK_SIZE + np.arange(BLOCK_SIZE)
    mask = offs < n_elements
    if mask.all():
        x_tile = load(x, offs, mask)
        y_tile = load(y, offs, mask)
        store(out, offs, x_tile + y_tile, mask)


def vector_add(x, y, out, n_elements, BLOCK_SIZE):
    """One program for each tile, from the last to the first."""
    for pid in reversed(range(grid_size(n_elements, BLOCK_SIZE)[0])):
        vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE)
