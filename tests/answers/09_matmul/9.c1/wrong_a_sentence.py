# expects: one of the letters
# Exercise 9.c1
# A matmul kernel has masks for M and N, none for K, and its pointers advance by BLOCK_K.
# Its tests, with K = 512, 1024 and 4096, pass. What is true?
#   a) it is right: masks for M and N are enough
#   b) it is right for any K, and slower where BLOCK_K does not divide K
#   c) where BLOCK_K does not divide K, any element of c may be wrong
#   d) where BLOCK_K does not divide K, the last row and column of tiles are wrong
answer_c1 = "it depends"  # a letter in quotes, such as "a"
