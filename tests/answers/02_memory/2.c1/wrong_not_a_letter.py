# expects: put the letter in quotes, as in "a"
# Exercise 2.c1
# A matrix is stored row by row. Thread i of a warp sums row i, from left to right.
# "Each thread reads neighbours, so it coalesces", says a colleague.
# When the 32 lanes load their first element, they touch
#   a) 4 sectors: each thread walks along a row
#   b) 1 sector: the cache brings the rest of the line
#   c) 32 sectors, if a row has 8 floats or more
#   d) 32 sectors, but only if the matrix is larger than the cache
answer_c1 = 8  # ______ a letter in quotes, such as "a"
