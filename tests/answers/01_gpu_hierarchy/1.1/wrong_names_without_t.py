# expects: name 'blockIdx' is not defined
# expects: t.blockIdx.x
# Exercise 1.1
def times_ten(t, x, out, n):
    """One thread of out = 10 x."""
    i = blockIdx * blockDim + threadIdx
    if i < n:
        out[i] = 10 * x[i]
