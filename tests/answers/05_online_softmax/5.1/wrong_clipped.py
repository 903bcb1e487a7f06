# expects: values differ
# expects: go into the thousands
# Exercise 5.1
def safe_softmax(x):
    """Scores cut off at 80, so that nothing overflows: no longer these scores."""

    p = np.exp(np.clip(x, -80, 80))
    return p / p.sum()
