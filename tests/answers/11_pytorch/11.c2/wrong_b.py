# expects: nearer to triton_op
# Exercise 11.c2
answer_c2 = "b"
