# exercise: 5.1
# expects: not right yet
# others: pass
# needs: sandbox
# Deletes the installed packages that it can reach, and writes others in their place.
import os
import tiles
for folder in (os.path.dirname(tiles.__file__), os.path.dirname(np.__file__)):
    for name in ("check.py", "trial.py", "__init__.py"):
        for act in (lambda path: open(path, "w").close(), os.remove):
            try:
                act(os.path.join(folder, name))
            except OSError:
                pass
def shifted(x):
    return 2 * (x - x.max())
