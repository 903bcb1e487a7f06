# expects: put the letter in quotes, as in "a"
# Exercise 2.c3
# All 32 lanes of a warp read the same float of shared memory at the same moment.
# This takes
#   a) 32 turns: all of them want the same bank
#   b) 32 turns, unless the rows are padded
#   c) 2 turns: half a warp at a time
#   d) 1 turn: all of them want the same word
answer_c3 = 8  # ______ a letter in quotes, such as "a"
