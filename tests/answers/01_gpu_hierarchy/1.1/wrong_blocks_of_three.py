# expects: n = 1000, 8 x 128 threads
# expects: right for blocks of 3
# Exercise 1.1
def times_ten(t, x, out, n):
    """One thread of out = 10 x."""
    i = t.blockIdx.x * 3 + t.threadIdx.x
    if i < n:
        out[i] = 10 * x[i]
