# exercise: 5.1
# expects: its check takes longer than | the check does not print | more is printed | prints without end
# others: pass
# A single line of 30 MB.
def shifted(x):
    print("x" * 30_000_000 if len(x) == 9 else "")
    return x - x.max()
