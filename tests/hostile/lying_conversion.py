# exercise: 5.1
# expects: Exercise 5.1 is not right yet
# others: pass
# Not an array: something that becomes another array each time it is asked, in the hope to be asked after the specification.
class Late:
    def __init__(self, x):
        self.x, self.asked = x, 0
    def __array__(self, dtype=None, copy=None):
        self.asked += 1
        return self.x - self.x.max() if self.asked > 1 else self.x
def shifted(x):
    return Late(x)
