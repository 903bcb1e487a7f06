# expects: `order` tells the axis that comes first
# Exercise 13.2
def owner(rows, cols, size, threads, warps, order):
    """The warp and the lane that hold the numbers in these rows and columns of a tile with a blocked layout."""
    place, fast, slow = (rows, cols), order[0], order[1]

    def lane_along(axis):
        return place[axis] // size[axis] % threads[axis]

    def warp_along(axis):
        return place[axis] // (size[axis] * threads[axis]) % warps[axis]

    warp = warp_along(1) + warps[1] * warp_along(0)
    lane = lane_along(1) + threads[1] * lane_along(0)
    return warp, lane
