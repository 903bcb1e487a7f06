# expects: GEMM, 0.095 ms on an A100
# expects: least_ms is 0.000440509, expected 0.440509. (tflops is right.)
# expects: That is in seconds.
# Exercise 4.2b
def judge(flops, nbytes, ms, peak, bandwidth):
    """The time in seconds."""
    tflops = flops / (ms / 1e3) / 1e12
    least_ms = max(flops / peak, nbytes / bandwidth)
    return tflops, least_ms
