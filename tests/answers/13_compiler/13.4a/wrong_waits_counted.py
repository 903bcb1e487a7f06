# expects: How often
# Exercise 13.4a
def first_number(words, text):
    """The whole number that follows the words where they first have one in the text; 0 where they never have."""
    found = re.search(re.escape(words) + r"\s*(\d+)", text)
    return int(found[1]) if found else 0


def pipeline(k):
    """Buffers of each operand, and groups of copies that may be on their way when a turn multiplies."""
    buffers = first_number("local_alloc : () -> !ttg.memdesc<", k.ttgir)
    on_their_way = k.ptx.count("cp.async.wait_group")
    return buffers, on_their_way
