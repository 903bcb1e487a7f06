# Exercise 6.1
def standard_attention(q, k, v):
    """Base-2 exponents, the scale in q, and the division last."""
    s = np.einsum("id,jd->ij", q * (1.4426950408889634 / len(q[0]) ** 0.5), k)
    p = np.exp2(s - s.max(axis=1)[:, None])
    return np.einsum("ij,je->ie", p, v) / p.sum(axis=1)[:, None], s.nbytes + p.nbytes
