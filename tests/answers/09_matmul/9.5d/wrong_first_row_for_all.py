# expects: Every row has the statistics of the first one: the addresses are `mean_ptr + offs_m % M`.
# Exercise 9.5d
@triton.jit
def row_statistics_kernel(x_ptr, mean_ptr, rstd_ptr, K, eps, stride_xm, stride_xk, BLOCK_K: tl.constexpr):
    """Mean and 1 / standard deviation of a row; each program takes one row as one tile."""
    row = tl.program_id(0).to(tl.int64)
    offs_k = tl.arange(0, BLOCK_K)
    mask = offs_k < K
    x = tl.load(x_ptr + row * stride_xm + offs_k * stride_xk, mask=mask, other=0.0).to(tl.float32)

    mean = tl.sum(x) / K
    centred = tl.where(mask, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred) / K + eps)

    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def scaled_linear_gelu_kernel(
    x_ptr, w_ptr, bias_ptr, sums_ptr, mean_ptr, rstd_ptr, out_ptr,
    M, N, K,
    stride_xm, stride_xk, stride_wk, stride_wn, stride_bias, stride_sums, stride_om, stride_on,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    """out = gelu(norm(x) @ w + bias), with the mean and rstd of each row of x at hand."""
    pid = tl.program_id(0)
    pid_m, pid_n = grouped_tile(pid, tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), GROUP_M)
    offs_m, offs_n = pid_m * BLOCK_M + tl.arange(0, BLOCK_M), pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tile_product(
        x_ptr, w_ptr, offs_m, offs_n, M, N, K, stride_xm, stride_xk, stride_wk, stride_wn, BLOCK_M, BLOCK_N, BLOCK_K
    )

    mean = tl.load(mean_ptr)
    rstd = tl.load(rstd_ptr)
    bias = tl.load(bias_ptr + (offs_n % N) * stride_bias)
    column_sums = tl.load(sums_ptr + (offs_n % N) * stride_sums)
    y = rstd * (acc - mean * column_sums[None, :]) + bias[None, :]

    out_ptrs = out_ptr + offs_m[:, None].to(tl.int64) * stride_om + offs_n[None, :] * stride_on
    tl.store(out_ptrs, gelu(y), mask=(offs_m < M)[:, None] & (offs_n < N)[None, :])


def statistics_linear_gelu(x, w, bias, column_sums, out, eps=1e-5, tile=(128, 256, 64, 8), num_warps=8):
    (M, K), (_, N), (BLOCK_M, BLOCK_N, *_) = x.shape, w.shape, tile
    mean, rstd = torch.empty(2, M, dtype=torch.float32, device=x.device)
    row_statistics_kernel[(M,)](x, mean, rstd, K, eps, *x.stride(), triton.next_power_of_2(K))
    grid = (triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N),)
    strides = *x.stride(), *w.stride(), *bias.stride(), *column_sums.stride(), *out.stride()
    scaled_linear_gelu_kernel[grid](x, w, bias, column_sums, mean, rstd, out, M, N, K, *strides, *tile, num_warps=num_warps)
