# expects: elements are read and written
# Exercise 6.2
def attend(q, k, v, block_k):
    """The maximum first, over all keys; then once more for the sums."""
    q_i, scale = q[:], q.shape[1] ** -0.5
    m = np.full(len(q_i), -np.inf, q.dtype)
    for offs_n in blocks(len(k), block_k):
        m = np.maximum(m, (q_i @ k[offs_n].T * scale).max(axis=-1))
    l, acc = 0, 0
    for offs_n in blocks(len(k), block_k):
        p = np.exp(q_i @ k[offs_n].T * scale - m[:, None])
        l, acc = l + p.sum(axis=-1), acc + p @ v[offs_n]
    return acc / l[:, None]
