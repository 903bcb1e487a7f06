# Exercise 11.c1
answer_c1 = "abcd"[1]
