# expects: 256 FLOPs and 16 B
# expects: attainable is 16, expected 4.
# expects: above the peak
# Exercise 4.2a
def roofline(flops, nbytes, peak, bandwidth):
    """Memory without a ceiling."""
    ridge = peak / bandwidth
    intensity = flops / nbytes

    attainable = intensity * bandwidth
    memory_bound = intensity < ridge
    return ridge, attainable, memory_bound
