# expects: transpose where it is not
# expects: raises ValueError
# Exercise 6.6
def attention_backward(q, k, v, o, m, l, do, block_q, block_k, causal=False):
    """lse [n_q], and the gradients dq, dk and dv, with the weights computed once more, tile by tile."""
    dq, dk, dv, scale = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v), q.shape[1] ** -0.5
    lse = m + np.log(l)
    delta = (do * o).sum(axis=-1)  # [n_q]

    for offs_n in blocks(len(k), block_k):
        k_j, v_j = k[offs_n], v[offs_n]
        for offs_m in blocks(len(q), block_q):
            q_i, do_i = q[offs_m], do[offs_m]
            s_ij = q_i @ k_j.T * scale
            if causal:
                s_ij[indices(offs_n) > indices(offs_m)[:, None]] = -np.inf

            p = np.exp(s_ij - lse[offs_m, None])
            dv[offs_n] += p @ do_i
            dp = do_i @ v_j.T
            ds = p * (dp - delta[offs_m, None])
            dq[offs_m] += ds @ k_j * scale
            dk[offs_n] += ds.T @ q_i * scale
    return lse, dq, dk, dv
