# Exercise 13.7b
@triton.jit
def all_rows_kernel(x_ptr, label_ptr, dx_ptr, loss_ptr, n_rows, n_cols, scale, sxm, sxn, sl, sdm, sdn, so, N: tl.constexpr):
    """A few programs, each with every G-th row; base 2."""
    offs = tl.arange(0, N)
    for row in tl.range(tl.program_id(0).to(tl.int64), n_rows, tl.num_programs(0)):
        label = tl.load(label_ptr + row * sl)
        x = tl.load(x_ptr + row * sxm + offs * sxn, mask=offs < n_cols, other=float("-inf")).to(tl.float32)
        m = tl.max(x, axis=0)
        p = tl.exp2((x - m) * 1.4426950408889634)
        l = tl.sum(p, axis=0)
        s = tl.where(label >= 0, scale, 0.0)
        tl.store(dx_ptr + row * sdm + offs * sdn, s * (p / l) - tl.where(offs == label, s, 0.0), mask=offs < n_cols)
        if label >= 0:
            tl.store(loss_ptr + row * so, m + tl.log2(l) * 0.6931471805599453 - tl.load(x_ptr + row * sxm + label * sxn).to(tl.float32))
        else:
            tl.store(loss_ptr + row * so, 0.0)


def cross_entropy(logits, labels, dlogits, loss, scale):
    (n_rows, n_cols), N = logits.shape, max(32, triton.next_power_of_2(logits.shape[1]))
    all_rows_kernel[(min(n_rows, 3),)](
        logits, labels, dlogits, loss, n_rows, n_cols, scale, *logits.stride(), *labels.stride(), *dlogits.stride(), *loss.stride(),
        N, num_warps=32 if N >= 16_384 else 16 if N >= 4096 else 4,
    )
