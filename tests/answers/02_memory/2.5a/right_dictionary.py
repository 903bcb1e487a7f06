# Exercise 2.5a
def conflict_degree(addresses):
    """Turns that shared memory needs to serve a warp."""
    waiting = {int(address) // 4 for address in addresses}
    turns = 0
    while waiting:
        served = {word % 32: word for word in waiting}
        waiting -= set(served.values())
        turns += 1
    return turns
