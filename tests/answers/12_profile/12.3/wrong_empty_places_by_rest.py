# expects: Where the last wave is full
# Exercise 12.3
def standing(flops, nbytes, ms, programs, num_warps, blocks, peak, gpu):
    """How much of a GPU a kernel uses that takes ms milliseconds."""
    seconds = ms / 1e3
    tflops = flops / seconds / 1e12
    of_bandwidth = nbytes / seconds / gpu.bandwidth
    of_roof = max(flops / peak, nbytes / gpu.bandwidth) / seconds

    occupancy = blocks * num_warps / gpu.warps_per_sm
    slots = blocks * gpu.sms
    waves = -(-programs // slots)
    filled = 1 - (slots - programs % slots) / (waves * slots)
    return tflops, of_bandwidth, of_roof, occupancy, filled
