# expects: The answer calls count_work_reference, the specification.
# Exercise 4.1
def count_work(operation, shape, itemsize):
    """Lets the specification count."""
    return count_work_reference(operation, shape, itemsize)
