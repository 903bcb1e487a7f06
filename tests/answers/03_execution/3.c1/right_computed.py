# The letter from its place in the alphabet.
# Exercise 3.c1
answer_c1 = chr(ord("a") + 2)
