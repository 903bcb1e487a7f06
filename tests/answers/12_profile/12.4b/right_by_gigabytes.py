# Exercise 12.4b
def read_counters(k, needed, gpu):
    """Bytes in a nanosecond are GB/s; sectors by name."""
    moved = np.sum([number for name, number in k.items() if name.startswith("dram")])
    sectors = sum(k.get(f"sectors_{how}", 0) for how in ("loaded", "stored", "copied"))
    return moved / k["ns"] / (gpu.bandwidth / 1e9), moved / needed, sectors * 8 * 4 / moved, np.bool_(gpu.sms > k["programs"])
