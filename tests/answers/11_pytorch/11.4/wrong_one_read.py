# expects: each reads the whole row
# Exercise 11.4
def read_kernel(M, N, itemsize, XBLOCK, R0_BLOCK):
    programs = triton.cdiv(M, XBLOCK)
    turns = 2 * triton.cdiv(N, R0_BLOCK)
    moved = 2 * M * N * itemsize
    return programs, turns, moved
