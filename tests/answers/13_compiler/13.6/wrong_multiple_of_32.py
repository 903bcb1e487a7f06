# expects: whether of 32 does not count
# Exercise 13.6
ITEMSIZE = {"float32": 4, "float16": 2}


def key(dtype, first, n_elements, scale, BLOCK_SIZE):
    """Equal for launches scale_kernel[grid](x[first:], n_elements, scale, BLOCK_SIZE) that share a compiled kernel."""
    of_x = dtype, first * ITEMSIZE[dtype] % 16 == 0  # ______ what counts of x[first:]
    of_n = n_elements == 1, n_elements % 32 == 0, n_elements < 2**31  # ______ of n_elements
    of_the_rest = BLOCK_SIZE  # ______ of scale and BLOCK_SIZE
    return of_x, of_n, of_the_rest


def compilations(launches):
    """How often the compiler runs for a list of launches."""
    return len({key(*launch) for launch in launches})
