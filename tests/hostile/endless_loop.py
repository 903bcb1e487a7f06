# exercise: 5.1
# expects: takes longer than
# others: pass
# A loop that catches every interrupt, and ignores the polite signals.
import signal
import time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
    signal.signal(number, signal.SIG_IGN)
def shifted(x):
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            pass
