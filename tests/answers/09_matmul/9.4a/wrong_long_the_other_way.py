# expects: Its error is the same for a long sum as for a short one: the accumulator has more digits than the inputs.
# Exercise 9.4a
PRECISIONS = ("IEEE", "TF32", "float16", "float16, accumulated in float16")


def told_apart(multiply):
    """The place in PRECISIONS of the way in which a function multiplies float32 matrices."""
    error = error_of(multiply, 16)
    if error < 1e-5:
        return PRECISIONS.index("IEEE")
    if error_of(multiply, 16, scale=2.0**-20) < 3 * error:
        return PRECISIONS.index("TF32")
    if error_of(multiply, 1024) > 3 * error:
        return PRECISIONS.index("float16")
    return PRECISIONS.index("float16, accumulated in float16")
