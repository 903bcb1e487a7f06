# exercise: 5.1
# expects: reaches into
# others: pass
# The same, found among the notebook's names and copied, so that it is another function with the same code.
import types


def shifted(x):
    import __main__

    mine = getattr(__main__, "shifted" + "_reference")
    return types.FunctionType(mine.__code__, mine.__globals__)(x)
