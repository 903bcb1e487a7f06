# expects: flops is 735, expected 770.
# expects: K additions
# Exercise 4.1
def count_work(operation, shape, itemsize):
    """K multiplications and K - 1 additions."""
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
        flops = M * N * (2 * K - 1)
        elements = M * K + K * N + M * N
    return flops, itemsize * elements
