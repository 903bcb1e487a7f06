# expects: The last block may be partly empty
# Exercise 1.2
def grid_size(n, block):
    """How many blocks n elements need, and how many of their threads have no element."""
    blocks = -(-n // block)
    idle = 0
    return blocks, idle
