# expects: 24 FLOPs and 16 B
# expects: ridge is 0.2, expected 5.
# expects: That is bytes for each FLOP
# Exercise 4.2a
def roofline(flops, nbytes, peak, bandwidth):
    """Bytes for a FLOP."""
    ridge = bandwidth / peak
    intensity = flops / nbytes

    attainable = min(peak, intensity * bandwidth)
    memory_bound = intensity < ridge
    return ridge, attainable, memory_bound
