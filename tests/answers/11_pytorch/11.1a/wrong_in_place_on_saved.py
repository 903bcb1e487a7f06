# expects: fill a new tensor
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
        softmax_backward(y, dy, y)
        dx = y
        return dx
