# The letter from its place in the alphabet.
# Exercise 3.c2
answer_c2 = chr(ord("a") + 1)
