# expects: n = 1, blocks of 32
# expects: That rounds down
# Exercise 1.2
def grid_size(n, block):
    """How many blocks n elements need, and how many of their threads have no element."""
    blocks = round(n / block)
    idle = blocks * block - n
    return blocks, idle
