# expects: 16 banks
# Exercise 2.5a
def conflict_degree(addresses):
    """Turns that shared memory needs to serve a warp."""
    words = np.unique(np.asarray(addresses) // 4)  # ______ the different words
    return np.bincount(words % 16).max()  # ______ how many of them lie in the busiest bank
