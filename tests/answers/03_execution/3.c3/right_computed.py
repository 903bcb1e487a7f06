# The letter from its place in the alphabet.
# Exercise 3.c3
answer_c3 = chr(ord("a") + 2)
