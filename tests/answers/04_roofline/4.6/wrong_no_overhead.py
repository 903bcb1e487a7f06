# expects: a large kernel and a small one, fused
# expects: no launch takes less than the overhead
# Exercise 4.6
def predicted_seconds(kernels, peak, bandwidth, overhead):
    """Launches cost nothing."""
    seconds = 0.0
    for flops, nbytes in kernels:
        seconds += max(flops / peak, nbytes / bandwidth)
    return seconds


def predicted_speedup(before, after, peak, bandwidth, overhead):
    machine = peak, bandwidth, overhead
    return predicted_seconds(before, *machine) / predicted_seconds(after, *machine)
