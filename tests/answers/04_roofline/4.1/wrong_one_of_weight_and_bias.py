# expects: weight and bias
# Exercise 4.1
def count_work(operation, shape, itemsize):
    """Only one of weight and bias is read."""
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
        elements = 2 * n_rows * n_cols + n_cols
    elif operation == "gemm":
        M, N, K = shape
        flops = 2 * M * N * K
        elements = M * K + K * N + M * N
    return flops, itemsize * elements
