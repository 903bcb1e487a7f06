# expects: `i = t.blockIdx * t.blockDim
# expects: two parts each
# Exercise 1.1
def times_ten(t, x, out, n):
    """One thread of out = 10 x."""
    i = t.blockIdx * t.blockDim + t.threadIdx
    if i < n:
        out[i] = 10 * x[i]
