# expects: large negatives
# expects: This is 0 / 0 or inf / inf
# expects: what does the largest of them start from
# Exercise 5.1
def safe_softmax(x):
    """The largest of the scores and 0: rows of large negatives vanish."""

    c = max(x.max(), 0)
    p = np.exp(x - c)
    return p / p.sum()
