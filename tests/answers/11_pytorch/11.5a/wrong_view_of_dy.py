# expects: or dy, has no such view
# Exercise 11.5a
class RMSNorm(torch.autograd.Function):
    """x / sqrt(mean(x²) + EPS) * w along the last dimension of x."""

    @staticmethod
    def forward(ctx, x, w):
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        rmsnorm(x.reshape(-1, x.shape[-1]), w, out.view(-1, x.shape[-1]))
        ctx.save_for_backward(x, w)
        return out

    @staticmethod
    def backward(ctx, dy):
        x, w = ctx.saved_tensors
        dx, dw = torch.empty(x.shape, dtype=x.dtype, device=x.device), torch.empty_like(w)
        n_cols = x.shape[-1]
        rmsnorm_backward(x.reshape(-1, n_cols), w, dy.view(-1, n_cols), dx.view(-1, n_cols), dw)
        return dx, dw
