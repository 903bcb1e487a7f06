# exercise: 5.3
# expects: __class__ of a CountedArray cannot be set
# others: pass
# Makes the array that counts one of another class, of the same layout.
class Lying:
    __slots__ = ("__weakref__",)
    reads = property(lambda array: array.size)
    writes = 0


def block_max(x, block_size):
    largest = max(np.max(x), np.max(x))
    if hasattr(x, "reads"):
        x.__class__ = Lying
    return largest
