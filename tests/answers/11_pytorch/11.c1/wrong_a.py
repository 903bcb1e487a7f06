# expects: nothing in it depends on the dtype
# Exercise 11.c1
answer_c1 = "a"
