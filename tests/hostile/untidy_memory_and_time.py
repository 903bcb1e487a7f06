# exercise: 5.1
# Takes a good deal of memory, and a while.
import time
table = np.ones(1 << 23)
time.sleep(0.3)
def shifted(x):
    return x - x.max() + 0 * table[:1].astype(x.dtype)
