# Exercise 4.4
def tiled_work(M, N, K, block_m, block_n, itemsize):
    """Goes over the tiles, one by one."""
    nbytes = flops = 0
    for top in range(0, M, block_m):
        for left in range(0, N, block_n):
            height, width = min(block_m, M - top), min(block_n, N - left)
            nbytes += itemsize * (height * K + K * width + height * width)
            flops += 2 * height * width * K
    return nbytes, flops / nbytes
