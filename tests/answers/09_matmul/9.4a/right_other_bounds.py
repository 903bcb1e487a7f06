# Exercise 9.4a
PRECISIONS = ("IEEE", "TF32", "float16", "float16, accumulated in float16")


def told_apart(multiply):
    """The place in PRECISIONS of the way in which a function multiplies float32 matrices."""
    error = error_of(multiply, 16)
    if not error > 2.0**-15:
        return PRECISIONS.index("IEEE")
    if error_of(multiply, 64, scale=1e-6) < 1e-3:
        return PRECISIONS.index("TF32")
    if error_of(multiply, 2000) < 2e-3:
        return PRECISIONS.index("float16")
    return PRECISIONS.index("float16, accumulated in float16")
