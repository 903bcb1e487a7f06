# expects: (4 for each of the input, not 3)
# Exercise 5.5
def softmax_two_passes(x, block_size, out):
    """The function of exercise 5.2 again."""

    softmax_three_passes(x, block_size, out)
