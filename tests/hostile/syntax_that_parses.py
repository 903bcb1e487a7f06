# exercise: 5.2
# expects: SyntaxError
# others: pass
# An honest mistake that Python's parser lets through, and its compiler does not: the other exercises are graded.
def doubled(x):
    total = 2 * x
    global total
    return total
