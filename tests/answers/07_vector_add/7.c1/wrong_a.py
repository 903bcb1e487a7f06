# expects: 7.c1 is not right yet
# Exercise 7.c1
# A tile has 1,024 lanes and out has 1,000 elements. The loads have a mask, the store
# has none. After this launch on a GPU, what do you find?
#   a) an error, at once
#   b) right values in out, and 24 overwritten places after it
#   c) right values, nothing else
#   d) wrong values in the last tile
answer_c1 = "a"
