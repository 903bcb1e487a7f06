# expects: the tile of x starts at [row, start]
# Exercise 9.7c
@triton.jit
def norm_linear_tma_kernel(
    x_desc, w_desc, out_desc, bias_ptr, sums_ptr, mean_ptr, rstd_ptr,
    M, N, K,
    stride_bias, stride_sums,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    """out = gelu(norm(x) @ w + bias), with the mean and rstd of each row of x at hand; persistent, by TMA."""
    num_pid_m, num_pid_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), num_pid_m * num_pid_n, PROGRAMS, flatten=True):
        pid_m, pid_n = grouped_tile(tile, num_pid_m, num_pid_n, GROUP_M)
        row, col = pid_m * BLOCK_M, pid_n * BLOCK_N

        acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
        for start in range(0, K, BLOCK_K):
            acc = tl.dot(x_desc.load([start, row]), w_desc.load([start, col]), acc)  # [BLOCK_M, BLOCK_N]

        offs_m, offs_n = row + tl.arange(0, BLOCK_M), col + tl.arange(0, BLOCK_N)
        mean = tl.load(mean_ptr + offs_m % M)
        rstd = tl.load(rstd_ptr + offs_m % M)
        bias = tl.load(bias_ptr + (offs_n % N) * stride_bias)
        column_sums = tl.load(sums_ptr + (offs_n % N) * stride_sums)
        y = rstd[:, None] * (acc - mean[:, None] * column_sums[None, :]) + bias[None, :]  # [BLOCK_M, BLOCK_N]
        out_desc.store([row, col], fast_gelu(y).to(out_desc.dtype))  # writes one tile


def norm_linear_tma(x, w, bias, column_sums, out, eps=1e-5):
    if not has_descriptor(x, w, out):
        return statistics_linear_gelu(x, w, bias, column_sums, out, eps)
    (M, K), (_, N), tile = x.shape, w.shape, (128, 256, 64)
    mean, rstd = torch.empty(2, M, dtype=torch.float32, device=x.device)
    row_statistics_kernel[(M,)](x, mean, rstd, K, eps, *x.stride(), triton.next_power_of_2(K))
    grid = (min(SMS, triton.cdiv(M, tile[0]) * triton.cdiv(N, tile[1])),)
    arguments = *descriptors(x, w, out, *tile), bias, column_sums, mean, rstd, M, N, K, *bias.stride(), *column_sums.stride()
    norm_linear_tma_kernel[grid](*arguments, *tile, GROUP_M=8, PROGRAMS=SMS, num_warps=8, num_stages=3)
