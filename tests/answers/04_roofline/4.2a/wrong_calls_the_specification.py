# expects: The answer calls roofline_reference
# Exercise 4.2a
def roofline(flops, nbytes, peak, bandwidth):
    """Asks the specification."""
    ridge = roofline_reference(flops, nbytes, peak, bandwidth)[0]
    intensity = flops / nbytes

    attainable = min(peak, intensity * bandwidth)
    memory_bound = intensity < ridge
    return ridge, attainable, memory_bound
