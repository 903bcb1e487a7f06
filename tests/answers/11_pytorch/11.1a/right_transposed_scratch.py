# Exercise 11.1a
class Softmax(torch.autograd.Function):
    """The softmax of each row of a matrix."""

    @staticmethod
    def forward(ctx, x):
        y = torch.empty(*x.shape[::-1], dtype=x.dtype, device=x.device).t()
        softmax(x, y)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        dx = torch.empty_like(y)
        softmax_backward(y, dy, dx)
        return dx
