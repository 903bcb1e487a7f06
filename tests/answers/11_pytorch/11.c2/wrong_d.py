# expects: recorded too
# Exercise 11.c2
answer_c2 = "d"
