# expects: Without wgmma
# Exercise 13.4b
def deepest(BLOCK_M, BLOCK_N, BLOCK_K, itemsize, wgmma, target, programs):
    """The most stages with which so many programs fit into the shared memory of an SM."""
    room = target.shared_per_sm // programs - target.shared_reserved  # bytes, for one program
    buffers = room // ((BLOCK_M + BLOCK_N) * BLOCK_K * itemsize)
    return max(1, buffers + 1 if wgmma else buffers)
