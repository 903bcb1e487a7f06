# expects: GFLOP/s
# Exercise 4.2b
def judge(flops, nbytes, ms, peak, bandwidth):
    """1e9 for 1e12."""
    tflops = flops / (ms / 1e3) / 1e9
    least_ms = max(flops / peak, nbytes / bandwidth) * 1e3
    return tflops, least_ms
