# Exercise 6.5
def grouped_attention(q, k, v, block_q, block_k, causal=False):
    """All queries of a group, one under the other, pass by a head of k and v together, unless they are causal."""
    heads, n_q, d = q.shape
    group = q.reshape(len(k), -1, d)
    if not causal:
        return np.stack([blockwise_attention(*x, block_q, block_k) for x in zip(group, k, v)]).reshape(heads, n_q, -1)
    pairs = [(q_h, k_h, v_h) for q_g, k_h, v_h in zip(q.reshape(len(k), -1, n_q, d), k, v) for q_h in q_g]
    return np.stack([blockwise_attention(*x, block_q, block_k, True) for x in pairs])
