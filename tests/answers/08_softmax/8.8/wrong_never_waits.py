# expects: `read_notes` waits
# Exercise 8.8
@triton.jit
def softmax_relay_kernel(
    x_ptr, out_ptr, note_ptr, ticket_ptr,
    n_rows, n_cols,
    stride_xm, stride_xn, stride_om, stride_on,
    PARTS: tl.constexpr, LAG: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):
    """out = softmax of the rows of x; a program leaves a note on a part of one row, and finishes that part of an earlier row."""
    ticket = tl.atomic_add(ticket_ptr, 1, sem="relaxed")
    row = ticket // PARTS
    part = ticket % PARTS
    old = row - LAG
    offs = part * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask, x_ptrs = offs < n_cols, x_ptr + offs.to(tl.int64) * stride_xn
    x = tl.load(x_ptrs + row * stride_xm, mask=mask & (row < n_rows), other=-float("inf")).to(tl.float32)
    x_old = tl.load(x_ptrs + old * stride_xm, mask=mask & (old >= 0), other=-float("inf"))  # from the L2 cache

    if row < n_rows:
        m = tl.maximum(tl.max(x), LOWEST)
        l = tl.sum(tl.exp2((x - m) * LOG2E))
        tl.atomic_xchg(note_ptr + row * PARTS + part, packed(m, l), sem="relaxed")
    if old >= 0:
        m_i, l_i = unpacked(tl.load(note_ptr + old * PARTS + tl.arange(0, PARTS), volatile=True))
        m = tl.max(m_i)
        l = tl.sum(l_i * tl.exp2((m_i - m) * LOG2E))
        p = tl.exp2((x_old.to(tl.float32) - m) * LOG2E) * (1.0 / tl.maximum(l, 1.0))
        out_ptrs = out_ptr + old * stride_om + offs.to(tl.int64) * stride_on
        tl.store(out_ptrs, p, mask=mask, cache_modifier=".cs")  # .cs: need not stay in L2


def softmax_relay(x, out, lag=40, BLOCK_SIZE=8192, num_warps=8):
    (n_rows, n_cols), strides = x.shape, (*x.stride(), *out.stride())
    parts, lag = triton.next_power_of_2(max(1, triton.cdiv(n_cols, BLOCK_SIZE))), min(lag, n_rows)
    scratch = torch.zeros(n_rows * parts + 1, dtype=torch.int64, device=x.device)
    arguments = x, out, scratch[:-1], scratch[-1:], n_rows, n_cols, *strides, parts, lag, BLOCK_SIZE
    softmax_relay_kernel[((n_rows + lag) * parts,)](*arguments, num_warps=num_warps)
