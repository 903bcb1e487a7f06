# exercise: 5.1
# expects: takes longer than
# others: pass
# A computation inside C that never looks at signals.
def shifted(x):
    return 7 ** 10**9
