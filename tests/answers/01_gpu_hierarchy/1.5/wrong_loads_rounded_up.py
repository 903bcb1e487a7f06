# expects: Do not round.
# Exercise 1.5
def in_flight(bandwidth, cycles, clock, load_bytes):
    """Little's law: the bytes, and the loads, that keep a memory busy."""
    latency = cycles / clock
    n_bytes = bandwidth * latency
    n_loads = math.ceil(n_bytes / load_bytes)
    return n_bytes, n_loads
