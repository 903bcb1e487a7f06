# expects: is to be transposed, k.T
# expects: raises ValueError
# Exercise 6.1
def standard_attention(q, k, v):
    """softmax(q kᵀ / √d) v, and the bytes of the two matrices in between."""
    (n_q, d), n_k = q.shape, len(k)

    s = q @ k * d**-0.5
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    o = p @ v

    in_between = 2 * 4 * n_q * n_k
    return o, in_between
