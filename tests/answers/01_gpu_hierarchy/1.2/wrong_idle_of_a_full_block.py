# expects: (blocks is right.)
# expects: unless the block divides n
# Exercise 1.2
def grid_size(n, block):
    """How many blocks n elements need, and how many of their threads have no element."""
    blocks = (n + block - 1) // block
    idle = block - n % block
    return blocks, idle
