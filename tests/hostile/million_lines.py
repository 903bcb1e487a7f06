# exercise: 5.1
# expects: its check takes longer than | the check does not print | more is printed | prints without end
# others: pass
# A million lines, then the right result: whoever stores or shows them has a report of 50 MB.
def shifted(x):
    for number in range(1_000_000 if len(x) == 9 else 0):
        print(number, "of a million lines, each of which is kept")
    return x - x.max()
