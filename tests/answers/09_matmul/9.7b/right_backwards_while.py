# Exercise 9.7b
@triton.jit
def matmul_persistent_kernel(
    a_desc, b_desc, c_desc,
    M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    """c = a @ b; each program computes tiles pid, pid + PROGRAMS, and so on."""
    num_pid_m, num_pid_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)

    for turn in tl.range(tl.cdiv(num_pid_m * num_pid_n - tl.program_id(0), PROGRAMS), flatten=True):
        tile = num_pid_m * num_pid_n - 1 - (tl.program_id(0) + turn * PROGRAMS)
        pid_m, pid_n = grouped_tile(tile, num_pid_m, num_pid_n, GROUP_M)
        acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
        for start in range(0, K, BLOCK_K):
            a = a_desc.load([pid_m * BLOCK_M, start])  # [BLOCK_M, BLOCK_K]
            b = b_desc.load([start, pid_n * BLOCK_N])  # [BLOCK_K, BLOCK_N]
            acc = tl.dot(a, b, acc)
        c_desc.store([pid_m * BLOCK_M, pid_n * BLOCK_N], acc.to(c_desc.dtype))


def matmul_persistent(a, b, c, programs=SMS):
    if not has_descriptor(a, b, c):
        return matmul(a, b, c, 128, 128, 64, num_warps=8, num_stages=4)
    (M, K), (_, N), tile = a.shape, b.shape, (128, 256, 64)
    grid = (min(programs, triton.cdiv(M, tile[0]) * triton.cdiv(N, tile[1])),)
    arguments = (*descriptors(a, b, c, *tile), M, N, K, *tile)
    matmul_persistent_kernel[grid](*arguments, GROUP_M=8, PROGRAMS=programs, num_warps=8, num_stages=3)
