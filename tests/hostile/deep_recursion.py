# exercise: 5.1
# expects: its check kills the kernel | RecursionError
# others: pass
# Recursion without a limit, through C where it can: the stack overflows.
import functools, sys
sys.setrecursionlimit(10**9)
def shifted(x):
    return functools.reduce(lambda a, b: shifted(a), [x, x])
