# expects: A slot counts whether or not there is a program for it
# Exercise 12.3
def standing(flops, nbytes, ms, programs, num_warps, blocks, peak, gpu):
    """How much of a GPU a kernel uses that takes ms milliseconds."""
    seconds = ms / 1e3
    tflops = flops / seconds / 1e12  # in TFLOP/s
    of_bandwidth = nbytes / seconds / gpu.bandwidth  # share of the bandwidth
    of_roof = max(flops / peak, nbytes / gpu.bandwidth) / seconds  # share of what the roofline allows

    occupancy = blocks * num_warps / gpu.warps_per_sm  # share of the warps that an SM holds, with `blocks` programs
    slots = min(blocks, programs) * gpu.sms
    waves = -(-programs // slots)
    filled = programs / (waves * slots)  # share of the slots in all waves
    return tflops, of_bandwidth, of_roof, occupancy, filled
