# exercise: 5.1
# expects: of memory | takes longer than
# needs: sandbox
# others: pass
# Memory in pieces and in several processes, each below a limit of its own: 8 times 1 GB, for 20 seconds.
import os, time
def shifted(x):
    for _ in range(8):
        if os.fork() == 0:
            pieces = [bytearray(b"x" * (1 << 28)) for _ in range(4)]
            time.sleep(20)
            os._exit(0)
    time.sleep(20)
    return x - x.max()
