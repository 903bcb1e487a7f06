# expects: bytes, not FLOPs
# Exercise 4.2b
def judge(flops, nbytes, ms, peak, bandwidth):
    """Bytes a second."""
    tflops = nbytes / (ms / 1e3) / 1e12
    least_ms = max(flops / peak, nbytes / bandwidth) * 1e3
    return tflops, least_ms
