# expects: memory_bound is 'memory', expected True or False
# Exercise 4.2a
def roofline(flops, nbytes, peak, bandwidth):
    """The ridge point of a GPU, and how fast it can be in an operation."""
    ridge = peak / bandwidth
    intensity = flops / nbytes

    attainable = min(peak, intensity * bandwidth)
    memory_bound = "memory" if intensity < ridge else "compute"
    return ridge, attainable, memory_bound
