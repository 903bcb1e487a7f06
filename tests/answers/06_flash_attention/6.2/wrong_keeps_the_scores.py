# expects: of its own at once
# Exercise 6.2
def attend(q, k, v, block_k):
    """Every tile of scores is kept until the end."""
    q_i, tiles = q[:], []
    for offs_n in blocks(len(k), block_k):
        tiles.append(q_i @ k[offs_n].T * q.shape[1] ** -0.5)
    s = np.concatenate(tiles, axis=1)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True) @ v[:]
