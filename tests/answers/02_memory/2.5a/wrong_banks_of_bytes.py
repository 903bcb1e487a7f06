# expects: a word has 4 bytes
# Exercise 2.5a
def conflict_degree(addresses):
    """Turns that shared memory needs to serve a warp."""
    words = np.unique(addresses)  # ______ the different words
    return np.bincount(words % 32).max()  # ______ how many of them lie in the busiest bank
