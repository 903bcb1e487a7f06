# expects: n = 1024, blocks of 128
# expects: one block too many where the block divides n
# Exercise 1.2
def grid_size(n, block):
    """How many blocks n elements need, and how many of their threads have no element."""
    blocks = n // block + 1
    idle = blocks * block - n
    return blocks, idle
