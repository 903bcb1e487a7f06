# exercise: 5.1
# expects: kills the kernel
# others: pass
# Reads memory that is not there.
def shifted(x):
    return np.lib.stride_tricks.as_strided(x, (1 << 40,), (4096,)).sum()
