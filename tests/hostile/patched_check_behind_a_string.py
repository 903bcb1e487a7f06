# exercise: 5.1
# expects: reaches into
# others: pass
# The same without an assignment that can be read: setattr, with a name that is put together.
import sys
def shifted(x):
    return 2 * (x - x.max())
setattr(sys.modules["tiles." + "trial"].Trial, "call", lambda self, case: str)
