# exercise: 5.1
# expects: raises OSError
# others: pass
# One sparse file of 100 TB: what copies or packs the folder later will not end.
def shifted(x):
    with open("hostile-sparse", "wb") as file:
        file.truncate(100 << 40)
    return x - x.max()
