# expects: loads and stores is
# expects: without a loop
# Exercise 1.6
def vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE):
    """out = x + y, for the tile of program pid."""
    for i in range(pid * BLOCK_SIZE, min(n_elements, (pid + 1) * BLOCK_SIZE - 1)):
        offs = np.array([i])
        mask = offs < n_elements
        store(out, offs, load(x, offs, mask) + load(y, offs, mask), mask)


def vector_add(x, y, out, n_elements, BLOCK_SIZE):
    """One program for each tile, from the last to the first."""
    for pid in reversed(range(grid_size(n_elements, BLOCK_SIZE)[0])):
        vector_add_program(pid, x, y, out, n_elements, BLOCK_SIZE)
