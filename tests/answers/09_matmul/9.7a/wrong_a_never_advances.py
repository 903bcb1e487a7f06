# expects: a never moves on along K
# Exercise 9.7a
@triton.jit
def matmul_tma_kernel(
    a_desc, b_desc, c_desc,
    M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    """c = a @ b; each program computes one tile of c, TMA moves the tiles."""
    pid_m, pid_n = grouped_tile(tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP_M)
    row, col = pid_m * BLOCK_M, pid_n * BLOCK_N

    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = a_desc.load([row, 0])  # [BLOCK_M, BLOCK_K]
        b = b_desc.load([start, col])  # [BLOCK_K, BLOCK_N]
        acc = tl.dot(a, b, acc)

    c_desc.store([row, col], acc.to(c_desc.dtype))  # writes one tile


def descriptors(a, b, c, BLOCK_M, BLOCK_N, BLOCK_K):
    a_desc = TensorDescriptor.from_tensor(a, [BLOCK_M, BLOCK_K])
    b_desc = TensorDescriptor.from_tensor(b, [BLOCK_K, BLOCK_N])  # of b
    c_desc = TensorDescriptor.from_tensor(c, [BLOCK_M, BLOCK_N])  # of c
    return a_desc, b_desc, c_desc


def matmul_tma(a, b, c):
    if not has_descriptor(a, b, c):
        return matmul(a, b, c, 128, 128, 64, num_warps=8, num_stages=4)
    (M, K), (_, N), tile = a.shape, b.shape, (128, 256, 64)
    grid = (triton.cdiv(M, tile[0]) * triton.cdiv(N, tile[1]),)
    matmul_tma_kernel[grid](*descriptors(a, b, c, *tile), M, N, K, *tile, GROUP_M=8, num_warps=8, num_stages=4)
