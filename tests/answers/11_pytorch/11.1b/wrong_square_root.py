# expects: square root
# Exercise 11.1b
def best_step(dtype):
    return float(np.finfo(dtype).eps / 2) ** (1 / 2)


def numeric_gradient(f, x, h):
    """The derivative of f by each element of x, by central differences with step h."""
    gradient = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = h
        gradient[place] = (f(x + step) - f(x - step)) / (2 * h)
    return gradient
