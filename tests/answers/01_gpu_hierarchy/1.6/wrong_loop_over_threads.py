# expects: loads and stores is 12, expected 3
# expects: a whole tile at once
# Exercise 1.6
def vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE):
    """out = x + y, for the tile of program pid."""
    for thread in range(BLOCK_SIZE):
        i = np.array([pid * BLOCK_SIZE + thread])
        mask = i < n_elements
        store(out, i, load(x, i, mask) + load(y, i, mask), mask)


def vector_add(x, y, out, n_elements, BLOCK_SIZE):
    """One program for each tile, from the last to the first."""
    for pid in reversed(range(grid_size(n_elements, BLOCK_SIZE)[0])):
        vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE)
