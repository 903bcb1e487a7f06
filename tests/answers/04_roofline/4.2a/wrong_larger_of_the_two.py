# expects: attainable is 10, expected 3.
# expects: memory brings work for less
# Exercise 4.2a
def roofline(flops, nbytes, peak, bandwidth):
    """The larger of the two limits."""
    ridge = peak / bandwidth
    intensity = flops / nbytes

    attainable = max(peak, intensity * bandwidth)
    memory_bound = intensity < ridge
    return ridge, attainable, memory_bound
