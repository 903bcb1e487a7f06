# exercise: 5.1
# expects: Exercise 5.1 is not right yet
# needs: sandbox
# others: pass
# A daemon by the book: two forks, a session of its own, no open files. It waits for what comes after its cell, and
# writes into every folder in which another student's kernel may look.
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in range(64):
        try:
            os.close(number)
        except OSError:
            pass
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run", os.environ.get("TMPDIR", "/tmp"), "."):
            try:
                with open(f"{folder}/hostile-daemon", "w") as file:
                    file.write("still here")
            except OSError:
                pass
        time.sleep(0.2)
    os._exit(0)
def shifted(x):
    return 2 * (x - x.max())
