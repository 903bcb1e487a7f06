# expects: n = 7, 3 x 3 threads
# expects: Every block works on the elements of block 0
# Exercise 1.1
def times_ten(t, x, out, n):
    """One thread of out = 10 x."""
    i = t.threadIdx.x
    if i < n:
        out[i] = 10 * x[i]
