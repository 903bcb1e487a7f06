# exercise: 5.1
# expects: its check failed
# others: pass
# Half of a character (a lone surrogate) in an error: it can be printed nowhere, stored in no JSON and written to no file.
def shifted(x):
    raise NotImplementedError("\ud800" * 3)
