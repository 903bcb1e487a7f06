# expects: idle is 2, expected 1
# expects: the others are idle
# Exercise 1.2
def grid_size(n, block):
    """How many blocks n elements need, and how many of their threads have no element."""
    blocks = (n + block - 1) // block
    idle = n % block
    return blocks, idle
