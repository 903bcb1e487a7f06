# exercise: 5.1
# expects: OSError
# needs: sandbox
# others: any
# Opens files, pipes and watches until there are no more, at most 50,000.
import os
kept = []
def shifted(x):
    for _ in range(50_000):
        kept.extend(os.pipe())
    return x - x.max()
