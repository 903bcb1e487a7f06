# exercise: 5.1
# expects: processes and threads | takes longer than
# needs: sandbox
# others: pass
# Processes that start processes, at most 2 ** 11 of them and for 20 seconds, deaf to signals and in sessions of their own.
import os, signal, time
def shifted(x):
    for _ in range(11):
        try:
            if os.fork() == 0:
                os.setsid()
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
        except OSError:
            pass
    time.sleep(20)
    return x - x.max()
