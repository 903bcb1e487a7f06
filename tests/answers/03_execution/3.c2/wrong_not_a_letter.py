# expects: put the letter in quotes, as in "a"
# Exercise 3.c2
# A copy kernel runs at 25 % occupancy and at the full speed of memory.
# You change it so that it reaches 100 % occupancy. It becomes
#   a) 4 times as fast                  b) as fast as before: enough bytes were in flight
#   c) faster, because no SM idles now  d) slower, because warps get in each other's way
answer_c2 = 3
