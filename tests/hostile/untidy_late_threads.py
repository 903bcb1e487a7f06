# exercise: 5.1
# Leaves a thread and a process at work, which end by themselves, and prints from them to stderr.
import subprocess, sys, threading, time
threading.Thread(target=lambda: (time.sleep(1), sys.stderr.write("late")), daemon=True).start()
threading.Timer(0.2, lambda: None).start()
subprocess.Popen(["sleep", "30"])
def shifted(x):
    return x - x.max()
