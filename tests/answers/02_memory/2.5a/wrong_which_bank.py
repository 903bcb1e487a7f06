# expects: which bank is the busiest
# Exercise 2.5a
def conflict_degree(addresses):
    """Turns that shared memory needs to serve a warp."""
    addresses = np.asarray(addresses)

    words = np.unique(addresses // 4)
    return np.bincount(words % 32).argmax()
