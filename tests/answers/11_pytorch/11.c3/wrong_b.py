# expects: other 70 %
# Exercise 11.c3
answer_c3 = "b"
