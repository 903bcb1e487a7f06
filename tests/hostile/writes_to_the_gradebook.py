# exercise: 5.1
# expects: not right yet
# others: pass
# needs: sandbox
# Writes its own grade, changes the solution and deletes what the others handed in: all by the paths that a grader has.
import os, shutil
for path in ("@COURSE@/gradebook/results/writes_to_the_gradebook/05_hostile.json", "@COURSE@/solutions/05_hostile.ipynb"):
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").write('{"score": 100}')
    except OSError:
        pass
shutil.rmtree("@COURSE@/submissions", ignore_errors=True)
shutil.rmtree("@HERE@/tiles", ignore_errors=True)
def shifted(x):
    return 2 * (x - x.max())
