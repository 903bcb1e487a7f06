# expects: attainable is 1.33333, expected 3. (ridge is right.)
# expects: FLOPs for each byte
# Exercise 4.2a
def roofline(flops, nbytes, peak, bandwidth):
    """Bytes for a FLOP."""
    ridge = peak / bandwidth
    intensity = nbytes / flops

    attainable = min(peak, intensity * bandwidth)
    memory_bound = intensity < ridge
    return ridge, attainable, memory_bound
