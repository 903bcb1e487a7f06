# expects: changed its input x
# Exercise 11.1b
def best_step(dtype):
    return float(np.finfo(dtype).eps / 2) ** (1 / 3)


def numeric_gradient(f, x, h):
    """The derivative of f by each element of x, by central differences with step h."""
    gradient = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        x[place] += h
        up = f(x)
        x[place] -= 2 * h
        gradient[place] = (up - f(x)) / (2 * h)
    return gradient
