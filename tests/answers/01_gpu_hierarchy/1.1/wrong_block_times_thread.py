# expects: Block times thread is 0
# Exercise 1.1
def times_ten(t, x, out, n):
    """One thread of out = 10 x."""
    i = t.blockIdx.x * t.threadIdx.x
    if i < n:
        out[i] = 10 * x[i]
