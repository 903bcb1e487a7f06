# expects: acc is summed without the factors
# Exercise 10.7b
@triton.jit
def merge_kernel(
    m_ptr, l_ptr, acc_ptr, o_ptr,
    splits,
    stride_oz, stride_oh, stride_od,
    HEAD_DIM: tl.constexpr, BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr,
):
    """o of one head, from the m, l and acc of its splits."""
    off_z, off_h = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    offs_s, offs_d = tl.arange(0, BLOCK_S), tl.arange(0, BLOCK_D).to(tl.int64)
    i = (off_z * tl.num_programs(1) + off_h) * splits + offs_s
    mask_s, mask_d = offs_s < splits, offs_d < HEAD_DIM

    m_i = tl.load(m_ptr + i, mask=mask_s, other=-float("inf"))  # [BLOCK_S]
    l_i = tl.load(l_ptr + i, mask=mask_s, other=0.0)
    acc = tl.load(acc_ptr + i[:, None] * HEAD_DIM + offs_d[None, :], mask=mask_s[:, None] & mask_d[None, :], other=0.0)

    m = tl.max(m_i, axis=0)  # the largest score of all
    alpha = tl.exp2(m_i - m)  # a factor for each split, [BLOCK_S]
    l = tl.sum(l_i * alpha, axis=0)  # one number
    o = tl.sum(acc, axis=0) / l  # [BLOCK_D]

    tl.store(o_ptr + off_z * stride_oz + off_h * stride_oh + offs_d * stride_od, o, mask=mask_d)
