# Exercise 12.2
def benchmark(gpu, call, flush, n_warmup=10, n_repeat=100, quantiles=(0.5, 0.2, 0.8)):
    """By hand: one pair of marks, read in each turn, and quantiles between the sorted samples."""
    for _ in range(n_warmup):
        call()
        flush()
    start, end = (gpu.Event(enable_timing=True) for _ in range(2))
    ordered = []
    while len(ordered) < n_repeat:
        flush()
        start.record()
        call()
        end.record()
        end.synchronize()
        ordered.append(start.elapsed_time(end))
    ordered.sort()
    places = np.array(quantiles) * (n_repeat - 1)
    below = np.floor(places).astype(int)
    above = np.minimum(below + 1, n_repeat - 1)
    ordered = np.array(ordered)
    return ordered[below] + (places - below) * (ordered[above] - ordered[below])
