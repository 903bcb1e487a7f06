# exercise: 5.1
# expects: takes longer than
# others: pass
# Sleeps for an hour: one student costs the class its night.
import time
def shifted(x):
    time.sleep(3600)
