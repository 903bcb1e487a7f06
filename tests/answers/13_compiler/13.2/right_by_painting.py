# Exercise 13.2
def owner(rows, cols, size, threads, warps, order):
    """Paints one pattern of the layout, piece by piece, and looks the places up in it."""
    extent = [size[a] * threads[a] * warps[a] for a in (0, 1)]
    pattern = np.zeros((2, *extent), int)
    fast, slow = order
    for warp in range(warps[0] * warps[1]):
        for lane in range(32):
            start = [0, 0]
            start[fast] = size[fast] * (lane % threads[fast] + threads[fast] * (warp % warps[fast]))
            start[slow] = size[slow] * (lane // threads[fast] + threads[slow] * (warp // warps[fast]))
            pattern[:, start[0] : start[0] + size[0], start[1] : start[1] + size[1]] = np.array([warp, lane])[:, None, None]
    return tuple(pattern[:, rows % extent[0], cols % extent[1]])
