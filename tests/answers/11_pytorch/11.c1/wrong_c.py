# expects: would overflow
# Exercise 11.c1
answer_c1 = "c"
