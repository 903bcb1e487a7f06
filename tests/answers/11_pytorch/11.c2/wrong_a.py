# expects: no numbers yet
# Exercise 11.c2
answer_c2 = "a"
