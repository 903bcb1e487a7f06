# expects: A number of blocks is whole
# Exercise 1.2
def grid_size(n, block):
    """How many blocks n elements need, and how many of their threads have no element."""
    blocks = n / block
    idle = blocks * block - n
    return blocks, idle
