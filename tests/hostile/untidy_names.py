# exercise: 5.1
# Uses names of Python's own as variables, a global, a class, a decorator and a recursion.
import functools
sum, list, id = np.sum, [1], 5
total = 0
def noisy(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        global total
        total += 1
        return function(*args, **kwargs)
    return inner
class Shifter:
    scale = 1
    def __call__(self, x):
        return (x - np.max(x)) * self.scale
    def __len__(self):
        return 3
@noisy
def shifted(x):
    return Shifter()(x)
