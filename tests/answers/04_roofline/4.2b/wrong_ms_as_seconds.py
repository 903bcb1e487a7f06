# expects: how many seconds
# Exercise 4.2b
def judge(flops, nbytes, ms, peak, bandwidth):
    """ms taken for seconds."""
    tflops = flops / ms / 1e12
    least_ms = max(flops / peak, nbytes / bandwidth) * 1e3
    return tflops, least_ms
