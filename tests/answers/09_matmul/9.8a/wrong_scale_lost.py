# expects: The scale is missing
# Exercise 9.8a
@triton.jit
def lora_kernel(
    x_ptr, w_ptr, a_ptr, b_ptr, y_ptr,
    M, N, K, scale,
    stride_xm, stride_xk, stride_wk, stride_wn, stride_ak, stride_ar, stride_br, stride_bn, stride_ym, stride_yn,
    RANK: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    """y = x w + scale (x a) b; each program computes one tile of y."""
    offs_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_r = tl.arange(0, RANK)
    mask_m, mask_n = (offs_m < M)[:, None], (offs_n < N)[None, :]

    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)  # x w
    xa = tl.zeros([BLOCK_M, RANK], dtype=tl.float32)  # x a
    for start in range(0, K, BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K).to(tl.int64)
        mask_k = offs_k < K
        x_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk
        w_ptrs = w_ptr + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn
        a_ptrs = a_ptr + offs_k[:, None] * stride_ak + offs_r[None, :] * stride_ar
        x = tl.load(x_ptrs, mask=mask_m & mask_k[None, :], other=0.0)
        acc = tl.dot(x, tl.load(w_ptrs, mask=mask_k[:, None] & mask_n, other=0.0), acc)
        xa = tl.dot(x, tl.load(a_ptrs, mask=mask_k[:, None], other=0.0), xa)

    b = tl.load(b_ptr + offs_r[:, None] * stride_br + offs_n[None, :] * stride_bn, mask=mask_n, other=0.0)
    y = tl.dot(xa.to(b.dtype), b, acc)
    tl.store(y_ptr + offs_m[:, None] * stride_ym + offs_n[None, :] * stride_yn, y, mask=mask_m & mask_n)


def lora(x, w, a, b, y, scale, tile=(128, 256, 64), num_warps=8):
    (M, K), (RANK, N) = x.shape, b.shape
    grid = (triton.cdiv(M, tile[0]), triton.cdiv(N, tile[1]))
    strides = *x.stride(), *w.stride(), *a.stride(), *b.stride(), *y.stride()
    lora_kernel[grid](x, w, a, b, y, M, N, K, scale, *strides, RANK, *tile, num_warps=num_warps)
