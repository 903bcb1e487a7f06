# exercise: 5.1
# expects: processes and threads | of memory | takes longer than
# needs: sandbox
# others: pass
# Processes that start processes, at most 2 ** 10 of them and for 20 seconds, deaf to signals.
import os, signal, time
def shifted(x):
    for _ in range(10):
        try:
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
        except OSError:
            pass
    time.sleep(20)
    return x - x.max()
