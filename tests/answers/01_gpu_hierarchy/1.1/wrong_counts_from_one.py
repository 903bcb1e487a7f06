# expects: one too far
# Exercise 1.1
def times_ten(t, x, out, n):
    """One thread of out = 10 x."""
    i = t.blockIdx.x * t.blockDim.x + t.threadIdx.x + 1
    if i < n:
        out[i] = 10 * x[i]
