# expects: Lanes along `order[1]` count too
# Exercise 13.2
def owner(rows, cols, size, threads, warps, order):
    """The warp and the lane that hold the numbers in these rows and columns of a tile with a blocked layout."""
    place, fast, slow = (rows, cols), order[0], order[1]

    def lane_along(axis):
        return place[axis] // size[axis] % threads[axis]

    def warp_along(axis):
        return place[axis] // (size[axis] * threads[axis]) % warps[axis]

    warp = warp_along(fast) + warps[fast] * warp_along(slow)
    lane = lane_along(fast)
    return warp, lane
