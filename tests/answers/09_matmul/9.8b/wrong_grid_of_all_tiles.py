# expects: own no tile at all
# Exercise 9.8b
@triton.jit
def lora_rows_kernel(
    x_desc, w_desc, a_desc, b_desc, y_desc,
    M, K, scale,
    RANK: tl.constexpr, TILES: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    """y = x w + scale (x a) b; each program computes TILES tiles of y, side by side."""
    num_pid_m = tl.cdiv(M, BLOCK_M)
    row = tl.program_id(0) % num_pid_m * BLOCK_M
    first = tl.program_id(0) // num_pid_m * TILES

    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)  # x w, for the first tile
    xa = tl.zeros([BLOCK_M, RANK], dtype=tl.float32)  # x a, for all of them
    for start in range(0, K, BLOCK_K):
        x = x_desc.load([row, start])
        acc = tl.dot(x, w_desc.load([start, first * BLOCK_N]), acc)
        xa = tl.dot(x, a_desc.load([start, 0]), xa)  # [BLOCK_M, RANK]
    xa = (scale * xa).to(x_desc.dtype)
    acc = tl.dot(xa, b_desc.load([0, first * BLOCK_N]), acc)  # the thin product added
    y_desc.store([row, first * BLOCK_N], acc.to(y_desc.dtype))

    for tile in range(first + 1, first + TILES):
        acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)  # what this tile starts from, [BLOCK_M, BLOCK_N]
        for start in range(0, K, BLOCK_K):
            acc = tl.dot(x_desc.load([row, start]), w_desc.load([start, tile * BLOCK_N]), acc)  # x w, and no x a
        acc = tl.dot(xa, b_desc.load([0, tile * BLOCK_N]), acc)
        y_desc.store([row, tile * BLOCK_N], acc.to(y_desc.dtype))


def lora_rows(x, w, a, b, y, scale, programs=SMS, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64):
    if not has_descriptor(x, w, a, b, y):
        return lora(x, w, a, b, y, scale)
    (M, K), (RANK, N) = x.shape, b.shape
    num_pid_m, num_pid_n = triton.cdiv(M, BLOCK_M), triton.cdiv(N, BLOCK_N)
    TILES = min(num_pid_n, triton.cdiv(num_pid_m * num_pid_n, programs))  # of one program
    grid = (num_pid_m * num_pid_n,)  # every row of tiles, and every TILES columns of them
    blocks = [BLOCK_M, BLOCK_K], [BLOCK_K, BLOCK_N], [BLOCK_K, RANK], [RANK, BLOCK_N], [BLOCK_M, BLOCK_N]
    descriptors = [TensorDescriptor.from_tensor(matrix, block) for matrix, block in zip((x, w, a, b, y), blocks)]
    lora_rows_kernel[grid](*descriptors, M, K, scale, RANK, TILES, BLOCK_M, BLOCK_N, BLOCK_K, num_warps=8, num_stages=3)
