# expects: the FLOPs take longer
# Exercise 4.2b
def judge(flops, nbytes, ms, peak, bandwidth):
    """The shorter time."""
    tflops = flops / (ms / 1e3) / 1e12
    least_ms = min(flops / peak, nbytes / bandwidth) * 1e3
    return tflops, least_ms
