# expects: where is that less than one
# Exercise 12.4b
def read_counters(k, needed, gpu):
    """Of what ncu counts, what tells whether memory, L2 or the number of programs holds a kernel back."""
    moved = k["dram_read"] + k["dram_write"]
    of_bandwidth = moved / (k["ns"] / 1e9) / gpu.bandwidth
    excess = moved / needed

    asked = 32 * (k["sectors_loaded"] + k["sectors_stored"])
    reuse = asked / moved
    starved = k["programs"] / gpu.sms
    return of_bandwidth, excess, reuse, starved
