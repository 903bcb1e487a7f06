# exercise: 5.3
# expects: reaches into
# others: pass
# Reads the memory that is counted through the function that does not count: a right value, and a budget that is not kept.
from tiles.memory import uncounted
def block_max(x, block_size):
    return uncounted(x).max() if hasattr(x, "reads") else x.max()
