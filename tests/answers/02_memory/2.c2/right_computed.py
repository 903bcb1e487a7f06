# Exercise 2.c2
# A warp loads every 32nd number of an array of float64, 8 bytes each.
# In sectors, it moves
#   a) 32 times the bytes that it needs: 32 lines of 128 bytes
#   b) 4 times the bytes: 32 sectors of 32 bytes
#   c) no more bytes: it only waits longer
#   d) 8 times the bytes, as with float32
answer_c2 = "abcd"[1]  # ______ a letter in quotes, such as "a"
