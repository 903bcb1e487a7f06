# expects: memory_bound is False, expected True.
# expects: On the other side
# Exercise 4.2a
def roofline(flops, nbytes, peak, bandwidth):
    """Compares FLOPs with the ridge point."""
    ridge = peak / bandwidth
    intensity = flops / nbytes

    attainable = min(peak, intensity * bandwidth)
    memory_bound = flops < ridge
    return ridge, attainable, memory_bound
