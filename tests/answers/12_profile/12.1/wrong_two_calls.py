# expects: one call between the two clocks
# Exercise 12.1
def when_done(gpu):
    """The CPU's clock once the GPU has done all that it was asked for."""
    gpu.synchronize()
    return gpu.now()


def time_call(gpu, call, flush):
    """Milliseconds from call() to the end of its work, its data in memory: the median and the largest of some samples."""
    call()
    samples = []
    for _ in range(9):
        flush()
        start = when_done(gpu)
        call()
        call()
        end = when_done(gpu)
        samples.append(end - start)
    return np.median(samples), max(samples)
