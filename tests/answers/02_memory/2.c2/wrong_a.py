# expects: It touches 32 lines, but a line does not have to move as a w
# Exercise 2.c2
# "With stride 32, a warp that loads float32 moves 32 times the bytes that it needs."
# In sectors, it moves
#   a) 32 times the bytes: 32 lines of 128 bytes
#   b) 8 times the bytes: 32 sectors of 32 bytes
#   c) no more bytes: it only waits longer
#   d) 4 times the bytes: one line holds 4 sectors
answer_c2 = "a"  # ______ a letter in quotes, such as "a"
