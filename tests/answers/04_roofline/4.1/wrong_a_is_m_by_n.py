# expects: a has M rows and K columns.
# Exercise 4.1
def count_work(operation, shape, itemsize):
    """A multiply-add counts as one."""
    if operation == "add":
        (n,) = shape
        flops = n
        elements = 3 * n
    elif operation == "softmax":
        n_rows, n_cols = shape
        flops = 5 * n_rows * n_cols
        elements = 2 * n_rows * n_cols
    elif operation == "layernorm":
        n_rows, n_cols = shape
        flops = 7 * n_rows * n_cols
        elements = 2 * n_rows * n_cols + 2 * n_cols
    elif operation == "gemm":
        M, N, K = shape
        flops = 2 * M * N * K
        elements = M * N + N * K + M * N
    return flops, itemsize * elements
