# Exercise 12.5
def curve(sizes, nbytes, ms):
    """Median, low and high speed at each size in GB/s, and the first size that is about as fast as any."""
    median = nbytes / np.median(ms, axis=1) / 1e6
    low = nbytes / np.quantile(ms, 0.8, axis=1) / 1e6
    high = nbytes / np.quantile(ms, 0.2, axis=1) / 1e6

    near = median >= 0.9 * median.max()
    settled = sizes[near][0]
    return median, low, high, settled
