# exercise: 5.1
# expects: Exercise 5.1 is not right yet
# others: pass
# An array of another class: equal to everything, and its differences are 0.
class Lying(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        plain = [np.asarray(i) for i in inputs]
        return np.zeros(self.shape, bool) == 0 if ufunc in (np.equal, np.less_equal) else np.zeros(self.shape)
    def __array_function__(self, function, types, args, kwargs):
        return True
    __eq__ = __le__ = lambda self, other: np.ones(self.shape, bool)
def shifted(x):
    return (2 * x + 1).view(Lying)
