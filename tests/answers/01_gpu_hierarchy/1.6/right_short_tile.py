# Exercise 1.6
def vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE):
    """out = x + y, for the tile of program pid."""
    offs = np.arange(pid * BLOCK_SIZE, min((pid + 1) * BLOCK_SIZE, n_elements))
    everything = np.full(offs.shape, True)
    store(out, offs, load(x, offs, everything) + load(y, offs, everything), everything)


def vector_add(x, y, out, n_elements, BLOCK_SIZE):
    """One program for each tile, from the last to the first."""
    for pid in reversed(range(grid_size(n_elements, BLOCK_SIZE)[0])):
        vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE)
