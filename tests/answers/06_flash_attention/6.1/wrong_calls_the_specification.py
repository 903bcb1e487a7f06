# expects: calls attention_reference
# Exercise 6.1
def standard_attention(q, k, v):
    return attention_reference(q, k, v).astype(q.dtype), 8 * len(q) * len(k)
