# Exercise 4.3
def chain_bytes(nbytes, others):
    """Fusing an operation to the rest of the chain saves one array written and one read."""
    first, rest = others[0], others[1:]
    separate = fused = (first + 2) * nbytes
    if rest:
        separate_rest, fused_rest = chain_bytes(nbytes, rest)
        separate, fused = separate + separate_rest, fused + fused_rest - 2 * nbytes
    return separate, fused
