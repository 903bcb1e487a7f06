# expects: n = 8, blocks of 3.
# expects: blocks is 3.0, a float, expected 3
# expects: math.ceil
# Exercise 1.2
def grid_size(n, block):
    """How many blocks n elements need, and how many of their threads have no element."""
    blocks = np.ceil(n / block)
    idle = blocks * block - n
    return blocks, idle
