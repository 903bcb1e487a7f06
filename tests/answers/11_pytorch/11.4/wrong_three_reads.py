# expects: two loads and a store
# Exercise 11.4
def read_kernel(M, N, itemsize, XBLOCK, R0_BLOCK):
    programs = triton.cdiv(M, XBLOCK)
    turns = 2 * triton.cdiv(N, R0_BLOCK)
    moved = 4 * M * N * itemsize
    return programs, turns, moved
