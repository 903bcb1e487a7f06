# exercise: 5.1
# expects: its check kills the kernel
# needs: sandbox
# others: pass
# Signals to the process that started it, to its group, to process 1, and to every process that it may signal.
import os, signal
def shifted(x):
    for target in (os.getppid(), 1):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
            try:
                os.kill(target, number)
            except OSError:
                pass
    if os.getppid() == 1 and len([name for name in os.listdir("/proc") if name.isdigit()]) < 20:
        try:
            os.kill(-1, signal.SIGKILL)  # only where there is nobody else
        except OSError:
            pass
    os.killpg(0, signal.SIGKILL)
