# exercise: 7.3
# expects: No kernel was launched
# others: pass
# Something that looks like a kernel: `multiply_add_relu_kernel[grid](...)` calls Python, and what it returns is a number
# of programs. The values come from Python's own numbers, one after the other, which a CPU does not mind.
class Kernel:
    def __getitem__(self, grid):
        def launch(x, y, z, out, n_elements, BLOCK_SIZE):
            out.zero = [max(a * b + c, 0) for a, b, c in zip(range(n_elements), range(n_elements), range(n_elements))]
            return out.zero

        return launch


multiply_add_relu_kernel = Kernel()


def multiply_add_relu(x, y, z, out):
    n_elements, BLOCK_SIZE = out.numel(), 1024
    multiply_add_relu_kernel[(triton.cdiv(n_elements, BLOCK_SIZE),)](x, y, z, out, n_elements, BLOCK_SIZE)
