# Exercise 4.6
def predicted_seconds(kernels, peak, bandwidth, overhead):
    """All kernels at once, as a table with a row for each."""
    table = np.array(kernels, float) / [peak, bandwidth]
    return np.clip(table.max(axis=1), overhead, None).sum()


def predicted_speedup(before, after, peak, bandwidth, overhead):
    return np.exp(np.log(predicted_seconds(before, peak, bandwidth, overhead)) - np.log(predicted_seconds(after, peak, bandwidth, overhead)))
