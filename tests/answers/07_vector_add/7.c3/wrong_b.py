# expects: 7.c3 is not right yet
# Exercise 7.c3
# Program 1 needs a value that program 0 stores in the same launch. When does that work?
#   a) never reliably: it takes a second launch
#   b) always: program 0 runs before program 1
#   c) when the load has a mask
#   d) when the grid has only two programs
answer_c3 = "b"
