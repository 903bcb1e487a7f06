# expects: returns empty tensors
# Exercise 11.3b
@attention_op.register_fake
def attention_fake(q, k, v, causal):
    o, lse = torch.empty_like(q), torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    flash_attention_forward(q, k, v, o, lse, causal)
    return o, lse


@attention_backward_op.register_fake
def attention_backward_fake(q, k, v, o, lse, do, causal):
    return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)


def attention_gradient_of(ctx, do, dlse):
    q, k, v, o, lse = ctx.saved_tensors
    dq, dk, dv = attention_backward_op(q, k, v, o, lse, do, ctx.causal)
    return dq, dk, dv, None


attention_op.register_autograd(attention_gradient_of, setup_context=save_for_attention)
