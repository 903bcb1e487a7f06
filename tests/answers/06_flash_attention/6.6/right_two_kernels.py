# Exercise 6.6
def attention_backward(q, k, v, o, m, l, do, block_q, block_k, causal=False):
    """As on a GPU: one loop for dk and dv, another for dq, and base-2 exponents; nothing is added up in slow memory."""
    scale, lse = q.shape[1] ** -0.5, np.log2(l) * 0.6931471805599453 + m
    delta = np.einsum("ie,ie->i", o, do)

    def tile(rows, cols):
        s = q[rows] @ k[cols].T * (scale * 1.4426950408889634)
        if causal:
            s = np.where(indices(rows)[:, None] >= indices(cols), s, -np.inf)
        p = np.exp2(s - (lse[rows] * 1.4426950408889634)[:, None])
        return p, p * (do[rows] @ v[cols].T - delta[rows][:, None]) * scale

    dq, dk, dv = np.empty_like(q), np.empty_like(k), np.empty_like(v)
    for cols in blocks(len(k), block_k):
        sums = [0, 0]
        for rows in blocks(len(q), block_q):
            p, ds = tile(rows, cols)
            sums = [sums[0] + ds.T @ q[rows], sums[1] + p.T @ do[rows]]
        dk[cols], dv[cols] = sums
    for rows in blocks(len(q), block_q):
        dq[rows] = sum(tile(rows, cols)[1] @ k[cols] for cols in blocks(len(k), block_k))
    return lse, dq, dk, dv
