# expects: Reads and writes go through load and store
# Exercise 1.6
def vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE):
    """out = x + y, for the tile of program pid."""
    out[:n_elements] = x[:n_elements] + y[:n_elements]


def vector_add(x, y, out, n_elements, BLOCK_SIZE):
    """One program for each tile, from the last to the first."""
    for pid in reversed(range(grid_size(n_elements, BLOCK_SIZE)[0])):
        vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE)
