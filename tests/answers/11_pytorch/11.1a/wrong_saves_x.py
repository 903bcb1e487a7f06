# expects: Was x saved in the place of y?
# Exercise 11.1a
class Softmax(torch.autograd.Function):
    """The softmax of each row of a matrix."""

    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        softmax(x, y)
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        dx = torch.empty_like(y)
        softmax_backward(y, dy, dx)
        return dx
