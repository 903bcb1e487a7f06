# Exercise 11.1a
class Softmax(torch.autograd.Function):
    """The softmax of each row of a matrix."""

    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        softmax(x, y)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        dx = dy.clone(memory_format=torch.contiguous_format)
        softmax_backward(y, dx, dx)
        return dx
