# expects: 4 rows, 7 columns
# expects: write into the next row
# expects: what is true of col
# Exercise 1.3
def sign_your_name(t, out, M, N):
    """One thread of out[row, col] = 1000 row + col, for a row-major matrix of M rows and N columns."""
    row = t.blockIdx.y * t.blockDim.y + t.threadIdx.y
    col = t.blockIdx.x * t.blockDim.x + t.threadIdx.x
    if row < M:
        place = row * N + col
        out[place] = 1000 * row + col
