# expects: one of the letters
# Exercise 9.c3
# On a GPU a product of float32 matrices is off by 0.03 % of its size, for K = 64 as for
# K = 8192. On a laptop the same kernel is exact to six digits. What happened?
#   a) the accumulator is float16
#   b) the programs ran in another order
#   c) a mask along K is missing
#   d) the inputs were rounded to TF32
answer_c3 = "it depends"  # a letter in quotes, such as "a"
