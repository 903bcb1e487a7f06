# expects: wrap_triton
# Exercise 11.3a
@triton_op("course::softmax", mutates_args=())
def softmax_op(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    (n_rows, n_cols), strides = x.shape, (*x.stride(), *y.stride())
    softmax(x, y)
    return y


def save_for_softmax(ctx, inputs, output):
    ctx.save_for_backward(output)


def softmax_gradient_of(ctx, dy):
    return softmax_backward_op(*ctx.saved_tensors, dy)


softmax_op.register_autograd(softmax_gradient_of, setup_context=save_for_softmax)
