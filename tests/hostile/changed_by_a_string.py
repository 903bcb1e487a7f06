# exercise: 5.1
# expects: reaches into
# others: pass
# What its text would betray stands in a string, which it writes to a file and imports.
open("later.py", "w").write("""
import sys
sys.modules["tiles.trial"].Trial.call = lambda self, case: str
""")
import later


def shifted(x):
    return 2 * (x - x.max())
