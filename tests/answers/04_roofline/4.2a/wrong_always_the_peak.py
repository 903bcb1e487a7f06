# expects: memory brings work for less
# Exercise 4.2a
def roofline(flops, nbytes, peak, bandwidth):
    """The peak, whatever the intensity."""
    ridge = peak / bandwidth
    intensity = flops / nbytes

    attainable = peak
    memory_bound = intensity < ridge
    return ridge, attainable, memory_bound
