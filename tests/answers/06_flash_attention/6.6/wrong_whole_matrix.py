# expects: of its own at once
# Exercise 6.6
def attention_backward(q, k, v, o, m, l, do, block_q, block_k, causal=False):
    """All of p at once."""
    s, scale = q @ k.T * q.shape[1] ** -0.5, q.shape[1] ** -0.5
    if causal:
        s = np.where(np.tri(*s.shape, dtype=bool), s, -np.inf)
    lse = m + np.log(l)
    p = np.exp(s - lse[:, None])
    ds = p * (do @ v.T - (do * o).sum(axis=1, keepdims=True)) * scale
    return lse, ds @ k, ds.T @ q, p.T @ do
