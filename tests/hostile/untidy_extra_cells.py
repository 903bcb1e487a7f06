# exercise: 5.1
# Other cells around the answer: helpers, experiments that fail, an import of everything, the same answer twice.
# %% before
from math import *

import tiles


def largest(x):
    return x.max()


1 / 0
# %% answer
def shifted(x):
    return x - largest(x)
# %% after
shifted([1, 2])
print(tiles.__name__)
undefined_name
# %% after
%%time
for i in range(3):
    print(i)
