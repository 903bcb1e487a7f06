# expects: Threads without an element write all the same
# Exercise 1.1
def times_ten(t, x, out, n):
    """One thread of out = 10 x."""
    i = t.blockIdx.x * t.blockDim.x + t.threadIdx.x
    if i < x.size:
        out[i] = 10 * x[i]
