# expects: The answer calls softmax_reference, the specification
# Exercise 5.1
def safe_softmax(x):
    """The specification, called."""

    return softmax_reference(x).astype(x.dtype)
