# expects: a kernel with few FLOPs, and half its bytes
# expects: FLOPs and bytes are not seconds
# Exercise 4.6
def predicted_seconds(kernels, peak, bandwidth, overhead):
    """Seconds that kernels take, one after the other, at best."""
    seconds = 0.0
    for flops, nbytes in kernels:
        seconds += max(flops, nbytes, overhead)
    return seconds


def predicted_speedup(before, after, peak, bandwidth, overhead):
    machine = peak, bandwidth, overhead
    return predicted_seconds(before, *machine) / predicted_seconds(after, *machine)
