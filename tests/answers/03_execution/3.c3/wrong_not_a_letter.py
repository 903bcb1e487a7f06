# expects: put the letter in quotes, as in "a"
# Exercise 3.c3
# 1,000 programs each add a float32 of their own to one sum with tl.atomic_add.
# What do two runs give?
#   a) the same bits: atomics keep the programs in order
#   b) sums that lack a few of the terms
#   c) all terms each time, but the last bits may differ
#   d) a correct sum only if programs run one by one
answer_c3 = 3
