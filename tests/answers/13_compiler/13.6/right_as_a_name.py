# Exercise 13.6
ITEMSIZE = {"float32": 4, "float16": 2}


def key(dtype, first, n_elements, scale, BLOCK_SIZE):
    """A name, as a compiler would mangle it."""
    aligned = "D" if first * ITEMSIZE[dtype] & 15 == 0 else ""
    if n_elements == 1:
        size = "one"
    else:
        size = ("i64" if n_elements > 2**31 - 1 else "i32") + ("D" if not n_elements % 16 else "")
    return f"{dtype}{aligned}-{size}-fp32-{BLOCK_SIZE}"


def compilations(launches):
    return len({key(*launch): launch for launch in launches})
