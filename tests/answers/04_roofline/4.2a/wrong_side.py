# expects: memory_bound is False, expected True. (ridge and attainable are right.)
# Exercise 4.2a
def roofline(flops, nbytes, peak, bandwidth):
    """The wrong way round."""
    ridge = peak / bandwidth
    intensity = flops / nbytes

    attainable = min(peak, intensity * bandwidth)
    memory_bound = intensity > ridge
    return ridge, attainable, memory_bound
