# expects: subtract 1024 as well
# Exercise 9.9b
@triton.jit
def matmul_int4_kernel(
    x_ptr, packed_ptr, scale_ptr, out_ptr,
    M, N, K,
    stride_xm, stride_xk, stride_wk, stride_wn, stride_s, stride_om, stride_on,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    """out = x (scale w), two rows of w in a byte; each program computes one tile of out."""
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    mask_m, mask_n = (offs_m < M)[:, None], (offs_n < N)[None, :]
    x_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk
    packed_ptrs = packed_ptr + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn

    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, K // 2, BLOCK_K):
        mask_k = offs_k < K // 2 - start
        x_low = tl.load(x_ptrs, mask=mask_m & mask_k[None, :], other=0.0)
        x_high = tl.load(x_ptrs + K // 2 * stride_xk, mask=mask_m & mask_k[None, :], other=0.0)
        packed = tl.load(packed_ptrs, mask=mask_k[:, None] & mask_n, other=0)  # reads K N / 2 bytes in all
        w_low = from_bits(packed & 0xF, 0x6400) - 8  # rows k of w, [BLOCK_K, BLOCK_N]
        w_high = from_bits(packed & 0xF0, 0x5400) - 72  # rows k + K // 2 of w, [BLOCK_K, BLOCK_N]
        acc = tl.dot(x_low, w_low.to(x_low.dtype), acc)  # the first half of K, [BLOCK_M, BLOCK_N]
        acc = tl.dot(x_high, w_high.to(x_low.dtype), acc)  # the second half, [BLOCK_M, BLOCK_N]
        x_ptrs += BLOCK_K * stride_xk
        packed_ptrs += BLOCK_K * stride_wk

    scale = tl.load(scale_ptr + offs_n * stride_s, mask=offs_n < N, other=0.0)
    out_ptrs = out_ptr + offs_m[:, None] * stride_om + offs_n[None, :] * stride_on
    tl.store(out_ptrs, acc * scale[None, :], mask=mask_m & mask_n)  # writes M N


def matmul_int4(x, packed, scale, out):
    launch_quantised(matmul_int4_kernel, x, packed, scale, out)
