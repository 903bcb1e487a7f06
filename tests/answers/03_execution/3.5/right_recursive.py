# By recursion, with the halves as the rows of a matrix.
# Exercise 3.5
def tree_levels(x):
    if len(x) == 1:
        return x[:0]
    folded = x.reshape(2, -1).sum(axis=0)
    return np.append(folded, tree_levels(folded))
