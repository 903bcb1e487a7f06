# expects: Block and thread have changed places
# Exercise 1.1
def times_ten(t, x, out, n):
    """One thread of out = 10 x."""
    i = t.threadIdx.x * t.blockDim.x + t.blockIdx.x
    if i < n:
        out[i] = 10 * x[i]
