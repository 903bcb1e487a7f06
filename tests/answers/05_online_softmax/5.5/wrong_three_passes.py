# expects: all -inf
# expects: Other values of these sizes are right
# Exercise 5.5
def softmax_two_passes(x, block_size, out):
    """The function of exercise 5.2 again."""

    softmax_three_passes(x, block_size, out)
