# exercise: 5.1
# expects: its check takes longer than | the check does not print | more is printed | prints without end
# others: pass
# A single line of 100 MB.
def shifted(x):
    print("x" * 100_000_000)
    return x - x.max()
