# expects: copy what its lines share
# Exercise 13.4
def first_number(words, text):
    """The number right behind the words, at the first place where one stands there; 0 without such a place."""
    found = re.search(r"\s+".join(map(re.escape, words.split())) + r"\s*(\d+)", text)
    return int(found[1]) if found else 0


def pipeline(k):
    """Buffers of each operand, and groups of copies that may be on their way when a turn multiplies."""
    buffers = first_number("%a_28 = ttg.local_alloc : () -> !ttg.memdesc<", k.ttgir)  # ______ in the TTGIR
    on_their_way = first_number("cp.async.wait_group", k.ptx)  # ______ in the PTX
    return buffers, on_their_way
