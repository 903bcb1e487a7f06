# expects: put the letter in quotes, as in "a"
# Exercise 3.c1
# In which of these do the threads of a warp diverge?
# (thread is the number of a thread in its block, and warp = thread // 32.)
#   a) if n_elements > 1000:      b) if warp % 2 == 0:
#   c) if thread % 2 == 0:        d) tl.where(x > 0, x, 0.0)
answer_c1 = 3
