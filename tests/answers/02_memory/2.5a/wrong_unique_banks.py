# expects: Were equal banks dropped, not equal words?
# Exercise 2.5a
def conflict_degree(addresses):
    """Turns that shared memory needs to serve a warp."""
    words = np.unique(np.asarray(addresses) // 4)  # ______ the different words
    return np.bincount(np.unique(words % 32)).max()  # ______ how many of them lie in the busiest bank
