# exercise: 5.1
# expects: gives another meaning to np
# others: pass
# numpy.testing says nothing any more, and np.abs finds no difference.
def shifted(x):
    return 2 * (x - x.max())
np.testing.assert_allclose = lambda *_, **__: None
np.abs = lambda a: np.zeros_like(a)
