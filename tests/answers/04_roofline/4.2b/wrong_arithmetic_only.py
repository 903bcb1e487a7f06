# expects: softmax, 0.08 ms on an H200
# expects: least_ms is 0.00500746, expected 0.111854.
# expects: the bytes take longer
# Exercise 4.2b
def judge(flops, nbytes, ms, peak, bandwidth):
    """Only the peak counts."""
    tflops = flops / (ms / 1e3) / 1e12
    least_ms = flops / peak * 1e3
    return tflops, least_ms
