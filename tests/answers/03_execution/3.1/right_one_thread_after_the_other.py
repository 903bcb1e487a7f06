# Each warp as a set of the sides that its threads ask for.
# Exercise 3.1
def branch_instructions(takes_if, n_if, n_else):
    total = 0
    for threads in takes_if.tolist():
        total += sum({True: n_if, False: n_else}[side] for side in set(threads))
    return total
