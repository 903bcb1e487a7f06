# expects: The traffic may be what takes longest.
# Exercise 4.6
def predicted_seconds(kernels, peak, bandwidth, overhead):
    """Only FLOPs."""
    seconds = 0.0
    for flops, nbytes in kernels:
        seconds += max(flops / peak, overhead)
    return seconds


def predicted_speedup(before, after, peak, bandwidth, overhead):
    machine = peak, bandwidth, overhead
    return predicted_seconds(before, *machine) / predicted_seconds(after, *machine)
