# expects: least_ms is 0.489878, expected 0.440509.
# expects: at the same time
# Exercise 4.2b
def judge(flops, nbytes, ms, peak, bandwidth):
    """One after the other."""
    tflops = flops / (ms / 1e3) / 1e12
    least_ms = (flops / peak + nbytes / bandwidth) * 1e3
    return tflops, least_ms
