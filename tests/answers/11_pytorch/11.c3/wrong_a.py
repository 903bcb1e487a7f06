# expects: attention and nothing else
# Exercise 11.c3
answer_c3 = "a"
