# From the number of threads that take the if, as a bit trick.
# Exercise 3.1
def branch_instructions(takes_if, n_if, n_else):
    votes = np.count_nonzero(takes_if, axis=-1)
    return int(np.dot(np.sign(votes), np.full(len(votes), n_if)) + n_else * np.sum(votes < 32))
