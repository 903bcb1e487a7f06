# expects: n = 2000
# expects: Keep one block at a time
# Exercise 5.3
def online_softmax(x, block_size):
    """One read, but the whole row is kept for a second look."""

    kept = np.concatenate([x[offs] for offs in blocks(x.size, block_size)])
    m = kept.max()
    return m, np.exp(kept - (m if m > -np.inf else 0.0)).sum()
