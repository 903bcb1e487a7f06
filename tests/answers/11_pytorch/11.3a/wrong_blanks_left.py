# expects: 3 blanks
# Exercise 11.3a
@triton_op("course::softmax", mutates_args=())
def softmax_op(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    (n_rows, n_cols), strides = x.shape, (*x.stride(), *y.stride())
    ______
    return y


def save_for_softmax(ctx, inputs, output):
    ______


def softmax_gradient_of(ctx, dy):
    return ______


softmax_op.register_autograd(softmax_gradient_of, setup_context=save_for_softmax)
