# exercise: 5.2
# expects: gives another meaning to print
# others: pass
# A print that makes of what is wrong what is right.
def doubled(x):
    return x + x.max()


def print(*values, p=print):
    p(*[True if value is False else value for value in values])
