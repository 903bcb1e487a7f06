# expects: a kernel with much arithmetic, and half its bytes
# expects: The result is 2, expected 1.
# expects: The arithmetic may be what takes longest.
# Exercise 4.6
def predicted_seconds(kernels, peak, bandwidth, overhead):
    """Only bytes and launches."""
    seconds = 0.0
    for flops, nbytes in kernels:
        seconds += max(nbytes / bandwidth, overhead)
    return seconds


def predicted_speedup(before, after, peak, bandwidth, overhead):
    machine = peak, bandwidth, overhead
    return predicted_seconds(before, *machine) / predicted_seconds(after, *machine)
