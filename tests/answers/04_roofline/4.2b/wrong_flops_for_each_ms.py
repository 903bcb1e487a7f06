# expects: Those are FLOPs for each millisecond
# Exercise 4.2b
def judge(flops, nbytes, ms, peak, bandwidth):
    """What a claim amounts to, and what the GPU allows."""
    tflops = flops / ms
    least_ms = max(flops / peak, nbytes / bandwidth) * 1e3
    return tflops, least_ms
