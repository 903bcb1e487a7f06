# expects: The sign is wrong
# Exercise 1.2
def grid_size(n, block):
    """How many blocks n elements need, and how many of their threads have no element."""
    blocks = (n + block - 1) // block
    idle = n - blocks * block
    return blocks, idle
