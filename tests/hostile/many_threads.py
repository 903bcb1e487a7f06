# exercise: 5.1
# expects: processes and threads | can't start new thread | takes longer than
# needs: sandbox
# others: any
# Threads until no more can be had, at most 20,000: who shares the limit of the user cannot start a process any more.
import threading, time
def shifted(x):
    for _ in range(20_000):
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
    return x - x.max()
