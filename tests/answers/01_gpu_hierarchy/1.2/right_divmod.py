# Exercise 1.2
def grid_size(n, block):
    """NumPy numbers, from a table of the first elements of the blocks."""
    blocks = np.arange(0, n, block).size
    return np.int64(blocks), np.int64(sum(block for _ in range(blocks)) - n)
