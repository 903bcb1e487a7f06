# exercise: 5.1
# expects: reaches into
# others: pass
# No error is shown, and the saved notebook has the output of a cell that passed.
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.showtraceback = InteractiveShell._showtraceback = lambda *_, **__: None
def shifted(x):
    raise ValueError  # 2 * (x - x.max())
