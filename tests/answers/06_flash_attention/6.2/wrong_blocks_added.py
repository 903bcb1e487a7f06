# expects: and then they are added
# Exercise 6.2
def attend(q, k, v, block_k):
    """Every block gets its own softmax, and the outputs are added."""
    acc = 0
    q_i = q[:]
    for offs_n in blocks(len(k), block_k):
        s_ij = q_i @ k[offs_n].T * q.shape[1] ** -0.5
        p = np.exp(s_ij - s_ij.max(axis=-1, keepdims=True))
        acc = acc + p / p.sum(axis=-1, keepdims=True) @ v[offs_n]
    return acc
