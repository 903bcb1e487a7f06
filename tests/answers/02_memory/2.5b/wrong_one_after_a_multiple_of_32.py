# expects: rows of 2 words
# Exercise 2.5b
def pitch_of(width):
    """Words from row to row, so that the columns of 32 rows have no conflicts."""
    return -(-width // 32) * 32 + 1  # ______
