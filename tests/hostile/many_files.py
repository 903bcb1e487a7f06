# exercise: 5.1
# expects: raises OSError | takes longer than
# others: pass
# needs: sandbox
# Small files without end, at most 300,000, and folders as deep as they go: inodes run out before bytes do.
import os
def shifted(x):
    for number in range(300_000):
        os.close(os.open(f"hostile-{number}", os.O_CREAT | os.O_WRONLY))
    return x - x.max()
