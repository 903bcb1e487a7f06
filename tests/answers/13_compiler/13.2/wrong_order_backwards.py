# expects: `order[0]` is the axis along which
# Exercise 13.2
def owner(rows, cols, size, threads, warps, order):
    """The warp and the lane that hold the numbers in these rows and columns of a tile with a blocked layout."""
    place, fast, slow = (rows, cols), order[0], order[1]

    def lane_along(axis):
        return place[axis] // size[axis] % threads[axis]

    def warp_along(axis):
        return place[axis] // (size[axis] * threads[axis]) % warps[axis]

    warp = warp_along(slow) + warps[slow] * warp_along(fast)
    lane = lane_along(slow) + threads[slow] * lane_along(fast)
    return warp, lane
