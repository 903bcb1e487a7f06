# exercise: 7.3
# Says for the whole notebook where tensors are made, what the compiler does, and what the lesson says already.
from triton import language as tl

torch.set_default_device("cpu")
import torch._dynamo

torch._dynamo.config.suppress_errors = True
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@triton.jit
def multiply_add_relu_kernel(x_ptr, y_ptr, z_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    product = tl.load(x_ptr + offs, mask=mask) * tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.maximum(product + tl.load(z_ptr + offs, mask=mask), 0.0), mask=mask)


def multiply_add_relu(x, y, z, out):
    multiply_add_relu_kernel[(triton.cdiv(out.numel(), 512),)](x, y, z, out, out.numel(), BLOCK_SIZE=512)
