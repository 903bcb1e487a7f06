# expects: 33 is for rows of 32 words
# Exercise 2.5b
def pitch_of(width):
    """Words from row to row, so that the columns of 32 rows have no conflicts."""
    return max(33, width)
