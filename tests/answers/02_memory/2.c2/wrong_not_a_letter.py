# expects: put the letter in quotes, as in "a"
# Exercise 2.c2
# "With stride 32, a warp that loads float32 moves 32 times the bytes that it needs."
# In sectors, it moves
#   a) 32 times the bytes: 32 lines of 128 bytes
#   b) 8 times the bytes: 32 sectors of 32 bytes
#   c) no more bytes: it only waits longer
#   d) 4 times the bytes: one line holds 4 sectors
answer_c2 = 8  # ______ a letter in quotes, such as "a"
