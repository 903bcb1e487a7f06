# Exercise 11.c3
answer_c3 = "abcd"[3]
