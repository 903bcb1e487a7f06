# expects: three kernels on much data, fused
# expects: The result is 0.005, expected 3.
# expects: seconds saved
# Exercise 4.6
def predicted_seconds(kernels, peak, bandwidth, overhead):
    """Seconds saved."""
    seconds = 0.0
    for flops, nbytes in kernels:
        seconds += max(flops / peak, nbytes / bandwidth, overhead)
    return seconds


def predicted_speedup(before, after, peak, bandwidth, overhead):
    machine = peak, bandwidth, overhead
    return predicted_seconds(before, *machine) - predicted_seconds(after, *machine)
