# Exercise 1.3
def sign_your_name(t, out, M, N):
    """The place from NumPy's own row-major order, and the guard as two ranges."""
    col, row = (b * size + place for b, size, place in zip(t.blockIdx, t.blockDim, t.threadIdx))
    if row in range(M) and col in range(N):
        out[np.ravel_multi_index((row, col), (M, N))] = col + row * 1000
