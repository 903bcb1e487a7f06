# exercise: 5.1
# expects: MemoryError | of memory | takes longer than
# others: pass
# 50 GB at once.
def shifted(x):
    filled = np.ones(50 << 27)
    return x - x.max() + filled[0] - 1
