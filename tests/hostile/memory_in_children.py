# exercise: 5.1
# expects: of memory | takes longer than
# needs: sandbox
# others: pass
# Memory in several processes, each below a limit of its own: 1 GB in each of 8, which write to every page of it.
import os, time


def shifted(x):
    filled = np.ones(1 << 27)
    for _ in range(8):
        if os.fork() == 0:
            filled += 1
            time.sleep(20)
            os._exit(0)
    time.sleep(20)
    return x - x.max()
