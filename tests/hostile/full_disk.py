# exercise: 5.1
# expects: OSError
# others: pass
# needs: sandbox
# Fills each folder that it may write to, 200 MB a file and 3 GB in all.
import os, tempfile
def shifted(x):
    written = 0
    for number in range(15):
        with open(f"{tempfile.gettempdir()}/hostile-{number}", "wb") as file:
            for _ in range(50):
                written += file.write(bytes(4 << 20))
    return x - x.max()
