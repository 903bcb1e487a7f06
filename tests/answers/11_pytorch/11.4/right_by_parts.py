# Exercise 11.4
def read_kernel(M, N, itemsize, XBLOCK, R0_BLOCK):
    programs = (M + XBLOCK - 1) // XBLOCK
    turns = 2 * triton.cdiv(N, R0_BLOCK)
    moved = sum(itemsize * M * N for access in ("load", "load", "store"))
    return programs, turns, moved
