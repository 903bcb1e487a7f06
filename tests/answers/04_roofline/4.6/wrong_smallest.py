# expects: not the fastest
# Exercise 4.6
def predicted_seconds(kernels, peak, bandwidth, overhead):
    """The fastest of the three."""
    seconds = 0.0
    for flops, nbytes in kernels:
        seconds += min(flops / peak, nbytes / bandwidth, overhead)
    return seconds


def predicted_speedup(before, after, peak, bandwidth, overhead):
    machine = peak, bandwidth, overhead
    return predicted_seconds(before, *machine) / predicted_seconds(after, *machine)
