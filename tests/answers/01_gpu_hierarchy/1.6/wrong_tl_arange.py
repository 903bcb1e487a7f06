# expects: Here it is np.arange
# Exercise 1.6
def vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE):
    """out = x + y, for the tile of program pid."""
    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    x_tile = load(x, offs, mask)
    y_tile = load(y, offs, mask)
    store(out, offs, x_tile + y_tile, mask)


def vector_add(x, y, out, n_elements, BLOCK_SIZE):
    """One program for each tile, from the last to the first."""
    for pid in reversed(range(grid_size(n_elements, BLOCK_SIZE)[0])):
        vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE)
