# expects: 7.c2 is not right yet
# Exercise 7.c2
# relu(x * y + z) as one kernel takes about half the time of three kernels, for large
# vectors. Why?
#   a) it computes less             b) it is launched once, not three times
#   c) it uses more processors      d) it moves half the bytes
answer_c2 = "a"
