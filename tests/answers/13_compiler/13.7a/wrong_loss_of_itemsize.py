# expects: a loss of 4
# Exercise 13.7a
def plan(n_rows, n_cols, itemsize, gpu):
    """Bytes, arithmetic intensity in FLOP/B and least seconds of loss and gradient in one kernel."""
    flops = 6 * n_rows * n_cols  # compare, subtract, exponential, add; then multiply, subtract
    nbytes = n_rows * (2 * n_cols * itemsize + 8 + itemsize)  # ______ that must be read and written
    intensity = flops / nbytes  # ______
    seconds = max(flops / gpu.fp32, nbytes / gpu.bandwidth)  # ______
    return nbytes, intensity, seconds
