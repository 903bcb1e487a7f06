# expects: least_ms is 0.049369, expected 0.440509.
# expects: the FLOPs take longer
# Exercise 4.2b
def judge(flops, nbytes, ms, peak, bandwidth):
    """Only the bandwidth counts."""
    tflops = flops / (ms / 1e3) / 1e12
    least_ms = nbytes / bandwidth * 1e3
    return tflops, least_ms
