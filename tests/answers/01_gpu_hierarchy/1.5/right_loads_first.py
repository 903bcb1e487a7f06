# Exercise 1.5
def in_flight(bandwidth, cycles, clock, load_bytes):
    """Little's law in loads instead of bytes, cycle by cycle instead of second by second."""
    loads_a_cycle = np.float64(bandwidth) / load_bytes / clock
    n_loads = cycles * loads_a_cycle
    return n_loads * load_bytes, n_loads
