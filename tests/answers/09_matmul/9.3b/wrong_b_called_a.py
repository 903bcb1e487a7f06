# expects: A tile of b has the name of a tile of a, and is taken for it.
# Exercise 9.3b
from collections import OrderedDict


def l2_misses(order, steps, a_bytes, b_bytes, capacity, together=132):
    """Bytes that a product loads from memory, through an L2 of that capacity."""
    cache, held, missed = OrderedDict(), 0, 0  # tile -> its bytes, least recently used first
    for first in range(0, len(order), together):
        wave = order[first : first + together].tolist()
        for k in range(steps):
            wanted = {("a", pid_m, k): a_bytes for pid_m, _ in wave}  # tile -> its bytes, each once
            wanted |= {("a", k, pid_n): b_bytes for _, pid_n in wave}
            for tile, nbytes in wanted.items():
                if tile in cache:
                    cache.move_to_end(tile)
                else:
                    cache[tile] = nbytes
                    held, missed = held + nbytes, missed + nbytes
                while held > capacity:
                    held -= cache.popitem(last=False)[1]
    return missed
