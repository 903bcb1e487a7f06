# expects: 14 B
# expects: stay in registers
# Exercise 13.7b
@triton.jit
def cross_entropy_kernel(
    logits_ptr, labels_ptr, dlogits_ptr, loss_ptr,
    n_cols, scale,
    stride_lm, stride_ln, stride_label, stride_dm, stride_dn, stride_loss,
    BLOCK_SIZE: tl.constexpr,
):
    """Online statistics, then the gradient: every logit is read twice."""
    row, offs = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK_SIZE)
    logits_ptr += row * stride_lm
    label = tl.load(labels_ptr + row * stride_label)
    counts = label >= 0
    m_i, l_i = -float("inf"), 0.0
    for start in range(0, n_cols, BLOCK_SIZE):
        x = tl.load(logits_ptr + (start + offs) * stride_ln, mask=start + offs < n_cols, other=-float("inf")).to(tl.float32)
        m_new = tl.maximum(tl.maximum(m_i, tl.max(x)), -3e38)
        l_i = l_i * tl.exp(m_i - m_new) + tl.sum(tl.exp(x - m_new))
        m_i = m_new
    x_label = tl.load(logits_ptr + label * stride_ln, mask=counts, other=0.0).to(tl.float32)
    tl.store(loss_ptr + row * stride_loss, tl.where(counts, m_i + tl.log(l_i) - x_label, 0.0))
    scale = tl.where(counts, scale, 0.0)
    for start in range(0, n_cols, BLOCK_SIZE):
        x = tl.load(logits_ptr + (start + offs) * stride_ln, mask=start + offs < n_cols, other=-float("inf")).to(tl.float32)
        dx = tl.exp(x - m_i) * (scale / l_i) - tl.where(start + offs == label, scale, 0.0)
        tl.store(dlogits_ptr + row * stride_dm + (start + offs) * stride_dn, dx, mask=start + offs < n_cols)


def cross_entropy(logits, labels, dlogits, loss, scale):
    n_rows, n_cols = logits.shape
    strides = *logits.stride(), *labels.stride(), *dlogits.stride(), *loss.stride()
    cross_entropy_kernel[(n_rows,)](logits, labels, dlogits, loss, n_cols, scale, *strides, 1024, num_warps=4)
