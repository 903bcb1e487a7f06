# exercise: 5.1
# A copy of the function that the check defines, to try the answer on: the check defines it again.
# %% before
def shifted_reference(x):
    return x - np.max(x) + 0.0


# %% answer
def shifted(x):
    return x - np.max(x)


print(np.allclose(shifted(np.arange(3.0)), shifted_reference(np.arange(3.0))))
