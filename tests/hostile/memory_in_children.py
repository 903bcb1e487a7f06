# exercise: 5.1
# expects: of memory | takes longer than
# needs: sandbox
# others: pass
# Memory in several processes, each below a limit of its own: 128 MB in each of 60, which write to every page of it.
import os, time


def shifted(x):
    filled = np.ones(1 << 24)
    for _ in range(60):
        if os.fork() == 0:
            filled += 1
            time.sleep(20)
            os._exit(0)
    time.sleep(20)
    return x - x.max()
