# expects: loads and stores is 0, expected 3
# expects: Reads and writes go through load and store
# expects: they take the mask
# Exercise 1.6
def vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE):
    """out = x + y, for the tile of program pid."""
    offs = pid * BLOCK_SIZE + np.arange(BLOCK_SIZE)
    out[offs] = x[offs] + y[offs]


def vector_add(x, y, out, n_elements, BLOCK_SIZE):
    """One program for each tile, from the last to the first."""
    for pid in reversed(range(grid_size(n_elements, BLOCK_SIZE)[0])):
        vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE)
