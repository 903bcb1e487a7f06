# expects: Those are the places of all sizes
# Exercise 12.5
def curve(sizes, nbytes, ms):
    """Median, low and high speed at each size in GB/s, and the first size that is about as fast as any."""
    median = nbytes / np.median(ms, axis=1) / 1e6  # [sizes]
    low = nbytes / np.quantile(ms, 0.8, axis=1) / 1e6  # one call in five is slower
    high = nbytes / np.quantile(ms, 0.2, axis=1) / 1e6  # one call in five is faster

    near = median >= 0.9 * median.max()  # [sizes], at least 90 % of the best
    enough = np.where(near)[0]
    return median, low, high, enough
