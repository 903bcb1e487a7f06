# Exercise 4.5
def tiled_matmul(a, b, block_m, block_n, block_k, counter):
    """Goes along K forwards and backwards in turn, so that the next tile begins with the block of a that is there."""
    (M, K), (K, N) = a.shape, b.shape
    c = np.empty((M, N), np.float32)
    steps = -(-K // block_k)
    for top in range(0, M, block_m):
        rows, here, forwards = slice(top, top + block_m), None, True
        for left in range(0, N, block_n):
            cols, acc = slice(left, left + block_n), 0
            for step in range(steps) if forwards else reversed(range(steps)):
                ks = slice(step * block_k, (step + 1) * block_k)
                if here != step:
                    here, a_block = step, counter.load(a, rows, ks)
                acc = acc + np.einsum("mk,kn->mn", a_block, counter.load(b, ks, cols))
            c[rows, cols] = acc
            forwards = not forwards
    return c
