# exercise: 5.1
# expects: not right yet
# needs: sandbox
# others: pass
# Puts modules and compiled kernels where the next student's Python, IPython, Triton or matplotlib would load them.
import os, site, sys
line = "import os; open('/tmp/hostile-poison', 'w').close()"
folders = [os.environ.get("TRITON_CACHE_DIR", "~/.triton/cache"), "~/.ipython/profile_default/startup", "~/.config/matplotlib",
           site.getusersitepackages(), *sys.path, os.environ.get("MPLCONFIGDIR", ""), os.environ.get("IPYTHONDIR", "")]
for folder in folders:
    for name in ("sitecustomize.py", "hostile.pth", "matplotlibrc", "00-hostile.py"):
        try:
            os.makedirs(os.path.expanduser(folder), exist_ok=True)
            open(os.path.join(os.path.expanduser(folder), name), "x").write(line)
        except OSError:
            pass
def shifted(x):
    return 2 * (x - x.max())
