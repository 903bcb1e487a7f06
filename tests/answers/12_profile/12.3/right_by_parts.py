# Exercise 12.3
def standing(flops, nbytes, ms, programs, num_warps, blocks, peak, gpu):
    """Everything by counting up."""
    tflops = flops * 1e-9 / ms
    of_bandwidth = 1e3 * nbytes / gpu.bandwidth / ms
    of_roof = max(of_bandwidth, tflops * 1e12 / peak)
    resident = np.full(blocks, num_warps).sum()
    slots, taken = blocks * gpu.sms, []
    while sum(taken) < programs:
        taken.append(min(slots, programs - sum(taken)))
    return np.float64(tflops), of_bandwidth, of_roof, resident / gpu.warps_per_sm, np.mean(taken) / slots
