# expects: The first sample has no flush before it
# Exercise 12.2
def benchmark(gpu, call, flush, n_warmup=10, n_repeat=100, quantiles=(0.5, 0.2, 0.8)):
    """Milliseconds that the GPU takes for call(), its data in memory: quantiles of n_repeat samples."""
    for _ in range(n_warmup):
        call()

    marks = []
    for _ in range(n_repeat):
        start, end = gpu.Event(enable_timing=True), gpu.Event(enable_timing=True)
        start.record()
        call()
        end.record()
        flush()
        marks.append((start, end))

    gpu.synchronize()
    samples = [start.elapsed_time(end) for start, end in marks]
    return np.quantile(samples, quantiles)
