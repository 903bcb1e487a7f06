# expects: float16 ends at 65,504
# Exercise 9.9a
@triton.jit
def matmul_int8_kernel(
    x_ptr, w_ptr, scale_ptr, out_ptr,
    M, N, K,
    stride_xm, stride_xk, stride_wk, stride_wn, stride_s, stride_om, stride_on,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    """out = x (scale w), w in 8 bits; each program computes one tile of out."""
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    mask_m, mask_n = (offs_m < M)[:, None], (offs_n < N)[None, :]
    x_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk
    w_ptrs = w_ptr + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn

    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        mask_k = offs_k < K - start
        x = tl.load(x_ptrs, mask=mask_m & mask_k[None, :], other=0.0)
        w = tl.load(w_ptrs, mask=mask_k[:, None] & mask_n, other=0)  # reads K N bytes in all
        acc = tl.dot(x, w.to(x.dtype), acc)  # [BLOCK_M, BLOCK_N]
        x_ptrs += BLOCK_K * stride_xk
        w_ptrs += BLOCK_K * stride_wk

    scale = tl.load(scale_ptr + offs_n * stride_s, mask=offs_n < N, other=0.0)
    out_ptrs = out_ptr + offs_m[:, None] * stride_om + offs_n[None, :] * stride_on
    tl.store(out_ptrs, acc.to(tl.float16) * scale[None, :], mask=mask_m & mask_n)  # scaled, writes M N


def matmul_int8(x, w, scale, out):
    launch_quantised(matmul_int8_kernel, x, w, scale, out)
