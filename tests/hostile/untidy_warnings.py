# exercise: 5.1
# Warns, logs, prints to stderr, and turns warnings off.
import logging, sys, warnings
logging.basicConfig(level=logging.DEBUG)
warnings.filterwarnings("ignore")
def shifted(x):
    warnings.warn("is this right?", DeprecationWarning)
    logging.warning("shifted %s", x)
    print("debug", x, file=sys.stderr)
    return x - x.max()
