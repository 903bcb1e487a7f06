# Exercise 1.6
def vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE):
    """out = x + y, for the tile of program pid."""
    lanes = np.arange(BLOCK_SIZE * (pid + 1))[-BLOCK_SIZE:]
    inside = ~(lanes > n_elements - 1)
    tiles = [load(memory, lanes, inside) for memory in (y, x)]
    store(tile=np.sum(tiles, axis=0), memory=out, mask=inside, offs=lanes)


def vector_add(x, y, out, n_elements, BLOCK_SIZE):
    """One program for each tile, from the last to the first."""
    for pid in reversed(range(grid_size(n_elements, BLOCK_SIZE)[0])):
        vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE)
