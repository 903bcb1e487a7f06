# exercise: 5.1
# expects: OSError | takes longer than
# others: pass
# needs: sandbox
# Fills each folder that it may write to, 200 MB a file and 3 GB in all.
import os, tempfile
def shifted(x):
    written, block = 0, bytes(4 << 20)
    for number in range(15):
        with open(f"{tempfile.gettempdir()}/hostile-{number}", "wb") as file:
            for _ in range(50):
                written += file.write(block)
    return x - x.max()
