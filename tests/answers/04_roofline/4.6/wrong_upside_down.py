# expects: three kernels on much data, fused
# expects: The result is 0.333333, expected 3.
# expects: how much slower
# Exercise 4.6
def predicted_seconds(kernels, peak, bandwidth, overhead):
    """After for before."""
    seconds = 0.0
    for flops, nbytes in kernels:
        seconds += max(flops / peak, nbytes / bandwidth, overhead)
    return seconds


def predicted_speedup(before, after, peak, bandwidth, overhead):
    machine = peak, bandwidth, overhead
    return predicted_seconds(after, *machine) / predicted_seconds(before, *machine)
