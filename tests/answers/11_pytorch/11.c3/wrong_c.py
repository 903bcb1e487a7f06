# expects: Add times instead
# Exercise 11.c3
answer_c3 = "c"
