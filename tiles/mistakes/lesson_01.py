"""Mistakes in lesson 01, the GPU's hierarchy: see `tiles.mistakes`."""

import numpy as np


def launched(element, guard):
    """Exercise 1.1 with another element, or another guard, of a thread."""

    def given(x, n, grid, block):
        b, t = np.divmod(np.arange(grid * block), block)
        i = element(b, t, block)
        i = i[guard(i, n)]
        out = np.full(x.size, -1.0)
        out[i] = 10 * x[i]
        return out[:n], out[n:]

    return given


def along(block, size, thread):
    """Row or column of a thread: block * size + thread."""
    return block * size + thread


def matrix(place, swapped=False, guard=lambda row, col, M, N: row < M and col < N, row_of=along, col_of=along):
    """Exercise 1.3 with another place in memory, x and y swapped, another guard, or another row or column of a thread."""

    def given(M, N, block):
        size = 4 * (M + N + 16) ** 2
        out = np.full(size, -1.0)
        for block_x in reversed(range(-(-N // block[0]))):
            for block_y in reversed(range(-(-M // block[1]))):
                for x, y in np.ndindex(block):
                    col, row = col_of(block_x, block[0], x), row_of(block_y, block[1], y)
                    row, col = (col, row) if swapped else (row, col)
                    if guard(row, col, M, N):
                        out[place(row, col, M, N) % size] = 1000 * row + col
        return out[: M * N].reshape(M, N), out[M * N :]

    return given


def tile(offs, mask, stored=lambda mask: mask, values=lambda x, y: x + y):
    """Exercise 1.6 with other offsets, masks or values: None for the calls, then memory after one program, and after all."""

    def given(x, y, n, block_size, pid):
        def run(programs):
            out = np.full(x.size, -1.0)
            for program in programs:
                lanes = offs(program, np.arange(block_size), block_size)
                here = mask(lanes, n)
                kept = stored(here)
                out[lanes[kept]] = np.where(here, values(x, y)[lanes], np.nan)[kept]
            return out

        return None, run([pid]), run(reversed(range(-(-n // block_size))))

    return given


def whole_tile(kept):
    """Exercise 1.6 with an `if` that lets a tile through where it keeps a whole one: loads and stores, memory as in `tile`."""

    def given(x, y, n, block_size, pid):
        memory = tile(lanes, lambda offs, n: np.full(offs.shape, kept(offs, n)))(x, y, n, block_size, pid)
        return 3 * bool(kept(lanes(pid, np.arange(block_size), block_size), n)), *memory[1:]

    return given


def touched(read):
    """Exercise 1.6 with other lanes that the loads let through: how many elements one program reads and writes."""

    def given(x, y, n, block_size, pid):
        offs = lanes(pid, np.arange(block_size), block_size)
        return None, None, None, 2 * int(np.sum(read(offs, n))) + int(np.sum(offs < n))  # after the calls, and memory twice

    return given


def thread_alone(block, size, thread):
    return thread


def block_alone(block, size, thread):
    return block * size


def mine(b, t, block):
    return b * block + t


def exists(i, n):
    return i < n


def rounded(n_bytes, load_bytes, result):
    """Exercise 1.5, rounded: the result, where it is one of these."""
    given = []
    for exact in (n_bytes, n_bytes / load_bytes, n_bytes // load_bytes):
        given.append(result if float(result) in (np.floor(exact), np.ceil(exact), np.round(exact)) else None)
    return given[0], given[1] if given[1] is not None else given[2]


def packed(blocks, sms, per_sm):
    """Exercise 1.4, the last wave dealt to as few SMs as can hold it."""
    last = blocks - (-(-blocks // (sms * per_sm)) - 1) * sms * per_sm
    return None, None, sms - -(-last // per_sm)


def _number(result):
    """A result as a number; 0 for an array."""
    return 0 if np.ndim(result) else float(result)


def row_major(row, col, M, N):
    return row * N + col


def lanes(pid, lane, block_size):
    return pid * block_size + lane


every_lane = "The lanes that have no element are not switched off: which of the offsets are below n_elements?"
MISTAKES = {
    "1.1": {
        "That is right for blocks of 3, as in the drawing: which size has this block?": launched(
            lambda b, t, block: 3 * b + t, exists
        ),
        "Block times thread is 0 for the whole first block: what does block 2 add to the numbers of its threads?": launched(
            lambda b, t, block: b * t, exists
        ),
        "Every block works on the elements of block 0: where does the block's own number come in?": launched(
            lambda b, t, block: t, exists
        ),
        "Blocks 0 and 1 overlap: how many elements lie before the first one of block 1?": launched(
            lambda b, t, block: b + t, exists
        ),
        "Every thread of a block takes the same element: where does its own place come in?": launched(
            lambda b, t, block: b * block, exists
        ),
        "Block and thread have changed places: who has a whole block of elements before it, the next block or the next thread?":
            launched(lambda b, t, block: t * block + b, exists),
        "Every element is one too far: what do block 0 and thread 0 own?": launched(lambda b, t, block: mine(b, t, block) + 1, exists),
        "Threads without an element write all the same: what is true of i for those that have one?": launched(
            mine, lambda i, n: i >= 0
        ),
        "One thread too many writes: the last element is n - 1.": launched(mine, lambda i, n: i <= n),
        "The thread of the last element does nothing: its i is n - 1.": launched(mine, lambda i, n: i < n - 1),
        "The guard lets the wrong threads through: it is true for those that have an element.": launched(mine, lambda i, n: i >= n),
    },
    "1.2": {
        "A number of blocks is whole: round it up.": lambda n, block: (n / block if n % block else None, None),
        "No elements need no blocks.": lambda n, block: (None if n else 1, None),
        "The last block may be partly empty: how many threads are there, and how many of them have an element?":
            lambda n, block: (None, 0),
        "That rounds down: the last elements, which do not fill a block, have no thread.": lambda n, block: (n // block, None),
        "That is one block too many where the block divides n.": lambda n, block: (n // block + 1, None),
        "That is how many threads of the last block have an element: the others are idle.": lambda n, block: (None, n % block),
        "That is right unless the block divides n: then no thread is idle.": lambda n, block: (None, block - n % block),
        "The sign is wrong: there are at least as many threads as elements.":
            lambda n, block: (None, n + (-n // block) * block),
        "Those are idle threads of the last block counted from one too many blocks.":
            lambda n, block: (None, (n // block + 1) * block - n),
        "Those are all threads: take off those that have an element.": lambda n, block: (None, -(-n // block) * block),
    },
    "1.3": {
        "x and y have changed places: y counts rows, and M is the number of rows.": matrix(row_major, swapped=True),
        "Every block works on the rows of the blocks above it: where does t.blockIdx.y come in?": matrix(
            row_major, row_of=thread_alone
        ),
        "Every block works on the columns of the blocks to its left: where does t.blockIdx.x come in?": matrix(
            row_major, col_of=thread_alone
        ),
        "Every block works on the elements of block 0: where does the block's own number come in?": matrix(
            row_major, row_of=thread_alone, col_of=thread_alone
        ),
        "The threads of a block share a row: where does t.threadIdx.y come in?": matrix(row_major, row_of=block_alone),
        "The threads of a block share a column: where does t.threadIdx.x come in?": matrix(row_major, col_of=block_alone),
        "How far apart in memory are an element and the one below it? A row has N elements.": matrix(
            lambda row, col, M, N: row * M + col
        ),
        "That is column by column: in row-major order, neighbours of a row are neighbours in memory.": matrix(
            lambda row, col, M, N: col * M + row
        ),
        "Elements of different rows share a place: a row takes N places.": matrix(lambda row, col, M, N: row + col),
        "Threads to the right of the matrix write into the next row: what is true of col for those inside?": matrix(
            row_major, guard=lambda row, col, M, N: row < M
        ),
        "Threads below the matrix write behind it: what is true of row for those inside?": matrix(
            row_major, guard=lambda row, col, M, N: col < N
        ),
        "Threads outside the matrix write all the same: some into the next row, some behind the matrix.": matrix(
            row_major, guard=lambda row, col, M, N: True
        ),
        "One row or column too many: the last ones are M - 1 and N - 1.": matrix(
            row_major, guard=lambda row, col, M, N: row <= M and col <= N
        ),
        "The guard compares row with N, or col with M: there are M rows and N columns.": matrix(
            row_major, guard=lambda row, col, M, N: row < N and col < M
        ),
    },
    "1.4": {
        "Each SM holds per_sm blocks at a time: a wave takes more blocks than there are SMs.":
            lambda blocks, sms, per_sm: (-(-blocks // sms), None, None),
        "That rounds down: a wave that is not full is a wave, too.":
            lambda blocks, sms, per_sm: (blocks // (sms * per_sm), None, None),
        "That is one wave too many where the last one is full.":
            lambda blocks, sms, per_sm: (blocks // (sms * per_sm) + 1, None, None),
        "A full last wave has all its blocks, not none.": lambda blocks, sms, per_sm: (None, blocks % (sms * per_sm), None),
        "Those are the blocks before the last wave.":
            lambda blocks, sms, per_sm: (None, (-(-blocks // (sms * per_sm)) - 1) * sms * per_sm, None),
        "Those are free places. An SM with one block is not idle, though it could hold more.":
            lambda blocks, sms, per_sm: (None, None, -blocks % (sms * per_sm)),
        "The waves that are over when the last one begins are one fewer than all of them.":
            lambda blocks, sms, per_sm: (None, blocks - -(-blocks // (sms * per_sm)) * sms * per_sm, None),
        "A full wave takes sms * per_sm blocks, not one for each SM.":
            lambda blocks, sms, per_sm: (None, blocks - (-(-blocks // (sms * per_sm)) - 1) * sms, None),
        "A full wave takes sms * per_sm blocks: what is left after the full ones is the last wave.":
            lambda blocks, sms, per_sm: (None, blocks % sms, None),
        "The blocks are dealt like cards, one to each SM first: no SM is filled while another has none.": packed,
        "An SM count is not negative: with more blocks than SMs, every SM gets one.":
            lambda blocks, sms, per_sm: (None, None, sms - (blocks - (-(-blocks // (sms * per_sm)) - 1) * sms * per_sm)),
        "Those are the SMs that have a block.":
            lambda blocks, sms, per_sm: (None, None, min(sms, blocks - (-(-blocks // (sms * per_sm)) - 1) * sms * per_sm)),
        "That is right unless the last wave is full, or gives every SM something.":
            lambda blocks, sms, per_sm: (None, None, sms - blocks % sms),
    },
    "1.5": {
        "Do not round.": lambda bandwidth, cycles, clock, load_bytes, result: rounded(bandwidth * cycles / clock, load_bytes, result),
        "The bandwidth is in bytes a second, the latency in cycles: how long is a cycle?":
            lambda bandwidth, cycles, clock, load_bytes: (bandwidth * cycles, None),
        "A cycle takes 1 / clock seconds: do cycles become seconds by multiplying?":
            lambda bandwidth, cycles, clock, load_bytes: (bandwidth * cycles * clock, None),
        "Turned upside down: the longer each byte takes, the more have to be on their way.":
            lambda bandwidth, cycles, clock, load_bytes: (bandwidth * clock / cycles, None),
        "Those are the bytes of one cycle: how many cycles does each of them take?":
            lambda bandwidth, cycles, clock, load_bytes: (bandwidth / clock, None),
        "A load carries load_bytes: are there more loads than bytes, or fewer?":
            lambda bandwidth, cycles, clock, load_bytes: (None, bandwidth * cycles / clock * load_bytes),
        "Those are bytes: each load carries load_bytes of them.":
            lambda bandwidth, cycles, clock, load_bytes: (None, bandwidth * cycles / clock),
    },
    "1.6": {
        "An `if` drops the whole last tile; a mask keeps its first elements: pass it to load and store.":
            whole_tile(lambda offs, n: bool((offs < n).all())),
        "Reads and writes go through load and store, as they will in Triton: they take the mask.":
            lambda x, y, n, block_size, pid: 0,
        "Two loads, of x and of y, and one store of their sum: which of the three is missing?":
            lambda x, y, n, block_size, pid, result: result if 0 < _number(result) < 3 else None,
        "A program has no threads to loop over: load and store take a whole tile at once.":
            lambda x, y, n, block_size, pid: 3 * block_size,
        "One load of x, one of y and one store are enough.": lambda x, y, n, block_size, pid: 4,
        "Two loads and one store do for the whole tile, without a loop.":
            lambda x, y, n, block_size, pid, result: result if _number(result) > 3 else None,
        "Offsets count from the start of the array, so what is the mask?":
            lambda x, y, n, block_size, pid: (None, np.full(x.size, -1.0)),
        "Every program adds the first tile: where does its own number come in?": tile(lambda pid, lane, b: lane, exists),
        "The tiles of programs 0 and 1 overlap: how many elements lie before the first one of program 1?": tile(
            lambda pid, lane, b: pid + lane, exists
        ),
        "The store lets lanes through that have no element, and overwrites what lies behind: it needs the mask, too.": tile(
            lanes, exists, lambda mask: np.ones_like(mask)
        ),
        every_lane: tile(lanes, lambda offs, n: offs >= 0),
        "One lane too many: the last element is n_elements - 1.": tile(lanes, lambda offs, n: offs <= n),
        "The last element is left out: its offset is n_elements - 1.": tile(lanes, lambda offs, n: offs < n - 1),
        "Both tiles come from x: which array does each load read?":
            tile(lanes, exists, values=lambda x, y: x + x),
        "Both tiles come from y: which array does each load read?":
            tile(lanes, exists, values=lambda x, y: y + y),
        "The loads read what lies behind our elements: they need the mask, as the store does.": touched(lambda offs, n: offs >= 0),
        "One of the loads reads what lies behind our elements: it needs the mask, too.":
            lambda x, y, n, block_size, pid: (None, None, None, block_size + 2 * max(0, min(block_size, n - pid * block_size))),
        "The loads read one lane too many: the last element is n_elements - 1.": touched(lambda offs, n: offs <= n),
    },
}  # fmt: skip

AXES = "t.blockIdx, t.blockDim and t.threadIdx have two parts each: take `.x` of them, or `.y`."
RAISED = {
    "1.1": {AXES: "Axes", "The thread t knows it, and its two parts: t.blockIdx.x.": "name '(blockIdx|blockDim|threadIdx)' is not"},
    "1.3": {
        AXES: "Axes",
        "The thread t knows it, and its two parts: t.blockIdx.x.": "name '(blockIdx|blockDim|threadIdx)' is not",
        "Memory has one dimension: which single number is the place of the element?": "IndexError: too many indices",
    },
    "1.4": {"grid_size returns two numbers, blocks and idle: `[0]` takes the first.": "TypeError: .*tuple"},
    "1.6": {
        "An `if` decides once for the whole tile; the mask decides for each element. Pass it to load and store.":
            "ValueError: The truth value of an array",
        "Here it is np.arange; tl.arange comes in lesson 07.": "NameError: name 'tl'",
        "A program knows no threads, only its own number, `pid`.": "NameError: name '(t|blockIdx|blockDim|threadIdx)'",
        "load takes memory, offs and mask, and store takes memory, offs, tile and mask, in this order.":
            "IndexError: (arrays used as indices|only integers|boolean index)|TypeError: (load|store|only integer)|AttributeError",
    },
}  # fmt: skip
