# expects: 16 B suffice
# Exercise 7.3
def multiply_add_relu(x, y, z, out):
    n, scratch = out.numel(), torch.empty_like(out)
    grid = (triton.cdiv(n, 1024),)
    step_kernel[grid](x, y, scratch, n, "multiply", 1024)
    step_kernel[grid](scratch, z, scratch, n, "add", 1024)
    step_kernel[grid](scratch, None, out, n, "relu", 1024)
