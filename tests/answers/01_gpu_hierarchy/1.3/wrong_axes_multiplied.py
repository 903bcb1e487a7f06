# expects: two parts each
# Exercise 1.3
def sign_your_name(t, out, M, N):
    """One thread of out[row, col] = 1000 row + col, for a row-major matrix of M rows and N columns."""
    row = t.blockIdx * t.blockDim + t.threadIdx
    col = t.blockIdx.x * t.blockDim.x + t.threadIdx.x
    if row < M and col < N:
        place = row * N + col
        out[place] = 1000 * row + col
