# Exercise 4.2b
def judge(flops, nbytes, ms, peak, bandwidth):
    """The least time is the claimed one, stretched by as much as the claim lies above the roofline."""
    tflops = flops * 1e-9 / ms
    return tflops, ms * tflops * 1e12 / roofline(flops, nbytes, peak, bandwidth)[1]
