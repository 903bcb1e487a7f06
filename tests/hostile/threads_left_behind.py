# exercise: 5.1
# expects: Exercise 5.1 is not right yet
# others: pass
# Threads that wait for the checks of others and turn whatever they find: the notebook's names, again and again.
import threading, time
def meddle():
    for _ in range(2000):
        time.sleep(0.001)
        for name in ("doubled", "block_max"):
            pass
for _ in range(20):
    threading.Thread(target=meddle, daemon=False).start()
def shifted(x):
    return 2 * (x - x.max())
