# expects: The name has to be equal
# Exercise 12.4a
def read_trace(entries, name):
    """From the first kernel's start to the last one's end: µs, µs without any kernel, and the share of one name."""
    kernels = [entry for entry in entries if entry["cat"] == "kernel"]
    busy_until, idle = kernels[0]["ts"], 0
    for kernel in kernels:
        idle += max(0, kernel["ts"] - busy_until)
        busy_until = max(busy_until, kernel["ts"] + kernel["dur"])

    share = sum(k["dur"] for k in kernels if k["name"].startswith(name)) / sum(k["dur"] for k in kernels)
    return busy_until - kernels[0]["ts"], idle, share
