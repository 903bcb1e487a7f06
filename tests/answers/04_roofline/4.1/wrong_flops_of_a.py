# expects: flops is 110, expected 770.
# expects: It should be N times as large.
# Exercise 4.1
def count_work(operation, shape, itemsize):
    """The FLOPs of one element of c for each element of a."""
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
        flops = 2 * M * K
        elements = M * K + K * N + M * N
    return flops, itemsize * elements
