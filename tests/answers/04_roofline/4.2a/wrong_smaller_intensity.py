# expects: That is FLOP/B, not FLOP/s
# Exercise 4.2a
def roofline(flops, nbytes, peak, bandwidth):
    """The ridge point of a GPU, and how fast it can be in an operation."""
    ridge = peak / bandwidth
    intensity = flops / nbytes

    attainable = min(ridge, intensity)
    memory_bound = intensity < ridge
    return ridge, attainable, memory_bound
