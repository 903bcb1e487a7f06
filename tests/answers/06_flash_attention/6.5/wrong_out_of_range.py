# expects: Which head do heads 0, 1 and 2 share
# expects: IndexError
# Exercise 6.5
def grouped_attention(q, k, v, block_q, block_k, causal=False):
    """Attention of each head, [heads, n_q, d_v]; neighbouring heads of q share a head of k and v."""
    heads, kv_heads = len(q), len(k)
    o = np.empty((heads, q.shape[1], v.shape[2]), q.dtype)
    for h in range(heads):
        kv = h
        o[h] = blockwise_attention(q[h], k[kv], v[kv], block_q, block_k, causal)
    return o
