# Exercise 4.2a
def roofline(flops, nbytes, peak, bandwidth):
    """From two times, as the machine of eight numbers does it."""
    computing, moving = flops / peak, nbytes / bandwidth
    return np.divide(peak, bandwidth), flops / np.maximum(computing, moving), np.bool_(moving > computing)
