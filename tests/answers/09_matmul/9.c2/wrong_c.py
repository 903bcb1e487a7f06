# expects: 9.c2 is not right yet
# Exercise 9.c2
# In grouped order, a product of two 8192 x 8192 matrices reads less from memory. Why?
#   a) each program loads fewer bytes
#   b) programs that run at the same time load the same tiles, and L2 has them
#   c) the accumulators stay in L2
#   d) fewer programs are launched
answer_c2 = "c"  # a letter in quotes, such as "a"
