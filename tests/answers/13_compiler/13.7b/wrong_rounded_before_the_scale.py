# expects: multiply in float32, and let the store round
# Exercise 13.7b
@triton.jit
def cross_entropy_kernel(
    logits_ptr, labels_ptr, dlogits_ptr, loss_ptr,
    n_cols, scale,
    stride_lm, stride_ln, stride_label, stride_dm, stride_dn, stride_loss,
    BLOCK_SIZE: tl.constexpr,
):
    """Loss of row m, and the gradient of scale * loss; each program takes one row as one tile."""
    row, offs = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK_SIZE)
    mask = offs < n_cols
    logits_ptr += row * stride_lm

    label = tl.load(labels_ptr + row * stride_label)
    counts = label >= 0
    x = tl.load(logits_ptr + offs * stride_ln, mask=mask, other=-float("inf")).to(tl.float32)  # reads N
    x_label = tl.load(logits_ptr + label * stride_ln, mask=counts, other=0.0).to(tl.float32)  # 1, so that x may go

    m = tl.max(x)
    p = tl.exp(x - m)
    l = tl.sum(p)
    tl.store(loss_ptr + row * stride_loss, tl.where(counts, m + tl.log(l) - x_label, 0.0))

    dx = tl.where(counts, p / l - tl.where(offs == label, 1.0, 0.0), 0.0).to(dlogits_ptr.dtype.element_ty) * scale
    tl.store(dlogits_ptr + row * stride_dm + offs * stride_dn, dx, mask=mask)  # writes N


def cross_entropy(logits, labels, dlogits, loss, scale):
    """The loss of each row, and the gradient of scale * loss."""
    n_rows, n_cols = logits.shape
    BLOCK_SIZE = max(16, triton.next_power_of_2(n_cols))
    num_warps = min(max(BLOCK_SIZE // (32 * 16), 1), 32)  # 16 values in each thread
    strides = *logits.stride(), *labels.stride(), *dlogits.stride(), *loss.stride()
    cross_entropy_kernel[(n_rows,)](
        logits, labels, dlogits, loss, n_cols, scale, *strides, BLOCK_SIZE, num_warps=num_warps
    )
