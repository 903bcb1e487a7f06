# expects: agrees to
# expects: digits
# Exercise 5.1
def safe_softmax(x):
    """p_i = exp(x_i) / Σ_j exp(x_j), for scores of any size."""
    c = 88
    p = np.exp(x - c)

    return p / p.sum()
