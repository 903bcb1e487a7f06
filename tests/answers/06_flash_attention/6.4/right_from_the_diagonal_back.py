# Exercise 6.4
def causal_attention(q, k, v, block_q, block_k):
    """Starts at the diagonal, masks only what it crosses, and goes back to the first key."""
    n, d = q.shape
    results = []
    for start in range(0, n, block_q):
        q_i = q[start : start + block_q] / d**0.5
        rows = np.arange(start, start + len(q_i))
        m = np.full((len(q_i), 1), -np.inf, q.dtype)
        l, acc = np.zeros_like(m), np.zeros((len(q_i), v.shape[1]), q.dtype)
        for first in range((rows[-1] // block_k) * block_k, -1, -block_k):
            k_j, v_j = k[first : first + block_k], v[first : first + block_k]
            s = q_i @ k_j.T
            if first + len(k_j) > start + 1:
                s[np.arange(first, first + len(k_j)) > rows[:, None]] = -np.inf
            new = np.maximum(m, s.max(axis=1, keepdims=True))
            shift = np.where(new > -np.inf, new, np.float32(0))
            p, keep = np.exp(s - shift), np.exp(m - shift)
            m, l, acc = new, l * keep + p.sum(axis=1, keepdims=True), acc * keep + p @ v_j
        results.append((acc / l, m[:, 0], l[:, 0]))
    return tuple(np.concatenate(parts) for parts in zip(*results))
