# expects: overflow encountered in exp
# Exercise 5.1
def safe_softmax(x):
    """More bits instead of a shift: exp overflows at 710 instead of 89."""

    p = np.exp(x.astype(np.float64))
    return (p / p.sum()).astype(x.dtype)
