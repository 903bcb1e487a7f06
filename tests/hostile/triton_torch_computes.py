# exercise: 7.2
# expects: the launcher lets torch compute
# others: pass
# The same with PyTorch, after a kernel that stores nothing, and through an operator that has no name of its own.
@triton.jit
def differences_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    tl.load(x_ptr)


def differences(x, out):
    differences_kernel[(1,)](x, out, x.numel(), 128)
    torch.ops.aten.sub.out(x[1:], x[:-1], out=out)
