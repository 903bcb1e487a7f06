# expects: the sizes of their sides
# Exercise 4.1
def count_work(operation, shape, itemsize):
    """FLOPs of an operation, and the bytes that it has to read and write."""
    if operation == "add":
        (n,) = shape
        flops = n
        elements = 3 * n  # reads x and y, writes out
    elif operation == "softmax":
        n_rows, n_cols = shape
        flops = 5 * n_rows * n_cols
        elements = 2 * n_rows * n_cols  # reads x, writes out
    elif operation == "layernorm":
        n_rows, n_cols = shape
        flops = 7 * n_rows * n_cols
        elements = 2 * n_rows * n_cols + 2 * n_cols
    elif operation == "gemm":
        M, N, K = shape
        flops = 2 * M * N * K
        elements = M + N + K
    return flops, itemsize * elements
