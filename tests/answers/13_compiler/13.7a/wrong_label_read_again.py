# expects: the label's logit is among the logits
# Exercise 13.7a
def plan(n_rows, n_cols, itemsize, gpu):
    """Bytes, arithmetic intensity in FLOP/B and least seconds of loss and gradient in one kernel."""
    flops = 6 * n_rows * n_cols  # compare, subtract, exponential, add; then multiply, subtract
    nbytes = n_rows * ((2 * n_cols + 1) * itemsize + 8 + 4)
    intensity = flops / nbytes
    seconds = max(flops / gpu.fp32, nbytes / gpu.bandwidth)
    return nbytes, intensity, seconds
