# expects: The product of zeros is 0
# Exercise 12.6
def evidence(entry, ms, flops, nbytes, gpu, a, b):
    """Whether an entry is possible, complete, exact and fresh."""
    possible = ms >= 1e3 * max(flops / gpu.fp16, nbytes / gpu.bandwidth)

    out = np.full((a.shape[0], b.shape[1]), np.nan, a.dtype)
    entry(a, b, out)
    complete = not np.isnan(out).any()
    exact = off_by(out, a, b) <= 0.002  # rounding to float16 gives less than 0.001

    b *= 0
    entry(a, b, out)
    fresh = off_by(out, a, b) <= 0.002
    return possible, complete, exact, fresh
