"""Mistakes in lesson 09, matrix multiplication: see `tiles.mistakes`."""

import numpy as np

from tiles.gpus import GPUS


def cdiv(n, block):
    return -(-n // block)


# ---- 9.6: an estimate of the time


def estimated(
    ruled_out=lambda k: k.spills or k.tensor_core != "wgmma" or k.occupancy.blocks == 0,
    tiles_of_sm=lambda tiles, gpu, k: cdiv(tiles, gpu.sms),
    blocks=lambda k, tiles: min(k.occupancy.blocks, tiles),
    flops=lambda m, n, k, K: 2 * m * n * k,
    loaded=lambda m, n, k: 2 * (m + n) * k,
    stages=lambda num_stages, blocks: blocks * (num_stages - 1),
    in_flight=lambda turns, step: turns * step,
    pace=lambda multiplying, reading, gpu: max(multiplying, reading),
    turns=lambda tiles, K, block: tiles * cdiv(K, block),
):
    """Exercise 9.6 with other steps."""

    def given(kernel, tile, M, N, K, gpu):
        if ruled_out(kernel):
            return float("inf")
        m, n, k = tile
        own = tiles_of_sm(cdiv(M, m) * cdiv(N, n), gpu, kernel)
        step = loaded(m, n, k)
        flying = in_flight(stages(kernel.num_stages, blocks(kernel, own)), step)
        rate = min(GPUS["A100"].l2_per_clock * gpu.clock / gpu.sms, flying / gpu.seconds(gpu.memory_latency))
        return turns(own, K, k) * pace(flops(m, n, k, K) * gpu.sms / gpu.fp16, step / rate, gpu) if rate else None

    return given


def only_where(condition, mistaken):
    """A mistake that is spoken of only for some kernels."""
    return lambda kernel, *rest: mistaken(kernel, *rest) if condition(kernel) else None


# ---- 9.7 and 9.8: tiles by descriptor


def window(x, row, col, rows, cols):
    """A tile by descriptor: what lies outside is 0."""
    found = x[max(row, 0) : row + rows, max(col, 0) : col + cols]
    return np.pad(found, ((0, rows - found.shape[0]), (0, cols - found.shape[1])))


def grouped(pid, down, across, group=8):
    first = pid // (group * across) * group
    place, rows = pid % (group * across), min(down - first, group)
    return first + place % rows, place // rows


def product(
    a_at=lambda row, start, block: (row, start),
    b_at=lambda start, col, block: (start, col),
    kept=False,
    swept=lambda acc, part: acc + part,
    block_m=128,
    block_n=256,
    block_k=64,
):
    """Exercises 9.7a and 9.7b with tiles from elsewhere; kept: the accumulator of a program is never set back to 0."""

    def given(a, b, programs=None):
        (M, K), N = a.shape, b.shape[1]
        down, across, c = cdiv(M, block_m), cdiv(N, block_n), np.zeros((M, N))
        programs = programs or down * across
        for pid in range(min(programs, down * across)):
            acc = np.zeros((block_m, block_n))
            for tile in range(pid, down * across, programs):
                pid_m, pid_n = grouped(tile, down, across)
                row, col = pid_m * block_m, pid_n * block_n
                acc = acc if kept else np.zeros((block_m, block_n))
                for start in range(0, K, block_k):
                    a_tile = window(a, *a_at(row, start, block_m), block_m, block_k)
                    acc = swept(acc, a_tile @ window(b, *b_at(start, col, block_n), block_k, block_n))
                c[row : row + block_m, col : col + block_n] = acc[: M - row, : N - col]
        return c

    return given


STEPS = {
    "The tile of a never moves on along K: it starts at column `start`.": product(a_at=lambda row, start, block: (row, 0)),
    "The tile of b never moves on along K: it starts at row `start`.": product(b_at=lambda start, col, block: (0, col)),
    "The rows of b are counted along K: its tile starts at [start, col].": product(b_at=lambda start, col, block: (col, start)),
    "The columns of a are counted along K: its tile starts at [row, start].": product(a_at=lambda row, start, block: (start, row)),
    "A tile starts at a row, pid_m * BLOCK_M, and not at pid_m, the number of the tile.":
        product(a_at=lambda row, start, block: (row // block, start)),
    "A tile starts at a column, pid_n * BLOCK_N, and not at pid_n, the number of the tile.":
        product(b_at=lambda start, col, block: (start, col // block)),
    "acc holds the last step alone: `tl.dot(a, b, acc)` adds to it.": product(swept=lambda acc, part: part),
}  # fmt: skip


def lora(thin=lambda x, a, b, scale: scale * (x @ a) @ b, wide=lambda x, w: x @ w):
    """Exercise 9.8 with other parts."""
    return lambda x, w, a, b, scale, **options: wide(x, w) + thin(x, a, b, scale)


def lora_rows(
    first=lambda wide, thin: wide + thin,
    later=lambda wide, thin, before: wide + thin,
    w_at=lambda first, tile: tile,
    x_w=lambda x, w: x @ w,
):
    """Exercise 9.8b with other sums in the first tile of a program, or in the later ones. before: all that acc held.

    x_w: x w in the later tiles.
    """

    def given(x, w, a, b, scale, programs):
        (M, K), N, (down, across) = x.shape, w.shape[1], (cdiv(x.shape[0], 128), cdiv(w.shape[1], 256))
        count = min(across, cdiv(down * across, programs))
        thin, y = scale * (x @ a) @ b, np.zeros((M, N))
        for start in range(0, across, count):
            before = 0
            for tile in range(start, min(start + count, across)):
                cols = slice(256 * tile, 256 * tile + 256)
                width = min(N, cols.stop) - cols.start
                of_w = window(w, 0, 256 * w_at(start, tile), K, 256)[:, :width]
                wide = x @ of_w if tile == start else x_w(x, of_w)
                before = before[:, :width] if tile > start else before
                before = first(wide, thin[:, cols]) if tile == start else later(wide, thin[:, cols], before)
                y[:, cols] = before
        return y

    return given


def of_last_step(x, a, b, scale):
    start = (x.shape[1] - 1) // 64 * 64
    return scale * (x[:, start:] @ a[start:]) @ b


def with_last_x(x, w):
    """x w with the last tile of x at every step."""
    rows, steps = x.shape[0], range(0, x.shape[1], 64)
    return sum(window(x, 0, steps[-1], rows, 64) @ window(w, k, 0, 64, w.shape[1]) for k in steps)


def of_first_rows(x, a, b, scale):
    """x a with the first tile of a at every step."""
    return scale * sum(window(x, 0, k, x.shape[0], 64) @ window(a, 0, 0, 64, 16) for k in range(0, x.shape[1], 64)) @ b


def tiles_of(case):
    return cdiv(case.sizes["M"], 128) * cdiv(case.sizes["N"], 256)


def stored_tiles(traffic):
    return sum(tally.executed for tally in traffic.tallies if tally.kind == "store")


# ---- 9.9: quantised weights


def quantised(
    weights=lambda w: w.astype(float),
    at_the_end=lambda acc, scale: acc * scale,
    every=lambda acc, part, scale: acc + part,
    x_as=lambda x: x,
):
    """Exercise 9.9a with other weights, or another use of the scale."""

    def given(x, w, scale):
        acc, x = np.zeros((x.shape[0], w.shape[1])), x_as(x)
        for k in range(0, x.shape[1], 128):
            acc = every(acc, x[:, k : k + 128] @ weights(w[k : k + 128]), scale)
        return at_the_end(acc, scale)

    return given


def four_bits(
    low=lambda packed: packed % 16 - 8.0,
    high=lambda packed: packed // 16 - 8.0,
    together=lambda x_low, x_high, low, high: x_low @ low + x_high @ high,
):
    """Exercise 9.9b with other steps."""

    def given(x, packed, scale):
        x_low, x_high = np.split(x, 2, axis=1)
        whole = packed.astype(int)
        return together(x_low, x_high, low(whole), high(whole)) * scale

    return given


def by_line(*words):
    """Whether a fault lies in a line of the kernel with one of these words."""
    return lambda fault, case: any(word in (fault.text or "") for word in words)


MISTAKES = {
    "9.6": {
        "A kernel that spills is ruled out: its sums travel to memory and back.":
            only_where(lambda k: k.spills, estimated(lambda k: False)),
        "On an H200 a kernel without `wgmma` is ruled out, with `mma.sync` too: that reaches a part of the rate.":
            only_where(lambda k: k.tensor_core != "wgmma", estimated(lambda k: False)),
        "The number of tiles is to be divided among the SMs.": estimated(tiles_of_sm=lambda tiles, gpu, k: tiles),
        "The busiest SM has one tile more than the others where it does not come out even: round up.":
            estimated(tiles_of_sm=lambda tiles, gpu, k: tiles // gpu.sms),
        "An SM computes whole tiles: round up, with triton.cdiv.": estimated(tiles_of_sm=lambda tiles, gpu, k: tiles / gpu.sms),
        "Blocks that share an SM share its rate: it has all the same to compute every tile that falls to it.":
            estimated(tiles_of_sm=lambda tiles, gpu, k: cdiv(tiles, gpu.sms * k.occupancy.blocks)),
        "A block without a tile has nothing in flight: no more blocks than tiles_of_sm.":
            estimated(blocks=lambda k, tiles: k.occupancy.blocks),
        "An SM has no more blocks than fit, kernel.occupancy.blocks.": estimated(blocks=lambda k, tiles: tiles),
        "Each step along K is a multiplication and an addition: two operations.": estimated(flops=lambda m, n, k, K: m * n * k),
        "Those are the operations of a tile: one turn of the loop does BLOCK_K steps.":
            estimated(flops=lambda m, n, k, K: 2 * m * n * K),
        "Those are elements: each has 2 bytes.": estimated(loaded=lambda m, n, k: (m + n) * k),
        "float16 has 2 bytes.": estimated(loaded=lambda m, n, k: 4 * (m + n) * k),
        "A turn loads a tile of a and a tile of b; that of c is in registers.": estimated(loaded=lambda m, n, k: 2 * m * n),
        "Each of the two tiles has BLOCK_K columns or rows.": estimated(loaded=lambda m, n, k: 2 * (m + n)),
        "Turns are no bytes: how many bytes has each turn in flight?": estimated(in_flight=lambda turns, step: turns),
        "A turn loads a tile of b as well as a tile of a.": estimated(loaded=lambda m, n, k: 2 * m * k),
        "A turn loads a tile of a as well as a tile of b.": estimated(loaded=lambda m, n, k: 2 * n * k),
        "A turn loads a tile of a, BLOCK_M · BLOCK_K, and a tile of b, BLOCK_K · BLOCK_N: that is a sum.":
            estimated(loaded=lambda m, n, k: 2 * m * n * k),
        "One of the stages is being multiplied: num_stages - 1 are in flight.": estimated(stages=lambda stages, blocks: blocks * stages),
        "Every block on the SM has its own loads in flight.": estimated(stages=lambda stages, blocks: stages - 1),
        "An SM multiplies and reads at the same time: the times do not add up.": estimated(pace=lambda c, r, gpu: c + r),
        "Reading takes longer than multiplying here, and the slower of the two sets the pace.": estimated(pace=lambda c, r, gpu: c),
        "Multiplying takes longer than reading here, at the rate of one SM, gpu.fp16 / gpu.sms.": estimated(pace=lambda c, r, gpu: r),
        "That is the time of one turn of the loop; the SM has `turns` of them.": estimated(turns=lambda tiles, K, block: 1),
    },
    "9.7a": STEPS,
    "9.7b": {
        "The accumulator still holds the tile before: each tile starts from 0.": product(kept=True),
        **STEPS,
    },
    "9.8a": {
        "That is scale (x a) b alone: x w is computed, and y does not take it up.": lora(wide=lambda x, w: 0),
        "That is x w alone: scale (x a) b is missing.": lora(thin=lambda *_: 0),
        "The scale is missing.": lora(thin=lambda x, a, b, scale: (x @ a) @ b),
        "The scale stands at (x a) b alone: x w has none.":
            lambda x, w, a, b, scale, **options: scale * lora(thin=lambda x, a, b, scale: (x @ a) @ b)(x, w, a, b, scale),
        "The scale is multiplied twice.": lora(thin=lambda x, a, b, scale: scale**2 * (x @ a) @ b),
    },
    "9.8b": {
        "The first tile of each program is x w alone: its thin product is missing.": lora_rows(first=lambda wide, thin: wide),
        "The first tile of each program is the thin product alone: `tl.dot(xa, ..., acc)` adds it to x w.":
            lora_rows(first=lambda wide, thin: thin),
        "The later tiles of a program still hold the tile before: each starts from 0.":
            lora_rows(later=lambda wide, thin, before: before + wide + thin),
        "The later tiles of a program take w from the columns of its first tile.": lora_rows(w_at=lambda first, tile: first),
        "In the later tiles, `x` is still the last tile that the first loop loaded: load it in each step.": lora_rows(x_w=with_last_x),
        "xa holds its last step alone: `tl.dot(x, a, xa)` adds to it.": lora(thin=of_last_step),
        "The tile of a never moves on along K: it starts at row `start`.": lora(thin=of_first_rows),
        "That is x w alone: scale (x a) b is missing.": lora(thin=lambda *_: 0),
    },
    "9.9a": {
        "The scale is missing.": quantised(at_the_end=lambda acc, scale: acc),
        "float16 ends at 65,504, and the sum goes beyond before the scale makes it small: multiply in float32, and let the store round.":
            quantised(at_the_end=lambda acc, scale: acc.astype(np.float16) * scale),
        "Weights below 0 count as 128 to 255: int8 has a sign, uint8 has none.":
            quantised(weights=lambda w: w.astype(np.uint8).astype(float)),
        "x is rounded to whole numbers: w becomes float16, not x int8.": quantised(x_as=np.trunc),
        "acc holds the last step alone: `tl.dot(x, w, acc)` adds to it.": quantised(every=lambda acc, part, scale: part),
        "What was summed before is scaled again in each turn: multiply by the scale once, after the loop.":
            quantised(every=lambda acc, part, scale: (acc + part) * scale, at_the_end=lambda acc, scale: acc),
    },
    "9.9b": {
        "The lower four bits belong to the first half of K, and meet x_low; the upper four meet x_high.":
            four_bits(lambda p: p // 16 - 8.0, lambda p: p % 16 - 8.0),
        "0 to 15 stand for -8 to 7: subtract 8.": four_bits(lambda p: p % 16, lambda p: p // 16),
        "The upper four bits, too, stand for -8 to 7: subtract 8.": four_bits(high=lambda p: p // 16),
        "The lower four bits, too, stand for -8 to 7: subtract 8.": four_bits(low=lambda p: p % 16),
        "A uint8 knows no numbers below 0: 3 - 8 is 251. Convert first, then subtract.":
            four_bits(lambda p: (p % 16 - 8) % 256, lambda p: (p // 16 - 8) % 256),
        "1024 and 64 are what `from_bits` adds to n: subtract them as well as 8.":
            four_bits(lambda p: 1024 + p % 16 - 8.0, lambda p: 64 + p // 16 - 8.0),
        "0x6400 | n is 1024 + n: subtract 1024 as well as 8.": four_bits(low=lambda p: 1024 + p % 16 - 8.0),
        "0x5400 | 16 n is 64 + n: subtract 64 as well as 8.": four_bits(high=lambda p: 64 + p // 16 - 8.0),
        "With the base 0x5400 the last bit counts 1/16: `packed >> 4` brings the upper four down, `packed & 0xF0` leaves them.":
            four_bits(high=lambda p: 64 + p // 16 / 16 - 72.0),
        "With the base 0x5400 the last bit counts 1/16: the lower four bits want 0x6400.": four_bits(low=lambda p: 64 + p % 16 / 16 - 72.0),
        "`tl.int8` has a sign, which `>>` shifts in: take the upper four bits first.":
            four_bits(high=lambda p: (p.astype(np.uint8).astype(np.int8) >> 4) - 8.0),
        "The upper four bits are 16 times too large where they are: with the base 0x5400, less 64 + 8, each counts what it should.":
            four_bits(high=lambda p: p // 16 * 16 - 8.0),
        "The lower weight still has the upper four bits with it: `& 0xF` keeps the lower ones.": four_bits(low=lambda p: p - 8.0),
        "0x7 keeps three bits: four are 0xF.": four_bits(low=lambda p: p % 8 - 8.0),
        "The second product replaces the first: `tl.dot(..., acc)` adds to it.": four_bits(together=lambda xl, xh, low, high: xh @ high),
        "Both halves of x meet the lower weights.": four_bits(together=lambda xl, xh, low, high: (xl + xh) @ low),
        "Both halves of the weights meet x_low.": four_bits(together=lambda xl, xh, low, high: xl @ (low + high)),
        "That is the lower weights alone: x_high and the upper ones are missing.": four_bits(together=lambda xl, xh, low, high: xl @ low),
    },
}  # fmt: skip
"""For each exercise: a sentence, and the function of the check's inputs whose result it explains."""

RAISED = {
    "9.6": {
        "Where no block fits on an SM, nothing is in flight: rule it out before you divide.": "ZeroDivisionError",
        '`tensor_core` is None without tensor cores: compare it with "wgmma".': "TypeError: argument of type 'NoneType'",
    },
}

SAME_TILE = "Two programs compute the same tile: which one starts where, and how far is it to its next tile?"
LAUNCHED = {
    "9.7b": {
        "Each program stores one tile, once: the store belongs into the loop over tiles, which goes on in steps of PROGRAMS.":
            lambda traffic, case: stored_tiles(traffic) == traffic.programs < tiles_of(case),
        "Each program computes its first tile again and again: `grouped_tile` takes the loop's number.":
            lambda traffic, case: stored_tiles(traffic) == tiles_of(case),
        "There are num_pid_m * num_pid_n tiles.": lambda traffic, case: stored_tiles(traffic) == cdiv(case.sizes["M"], 128),
        "Some tiles belong to no program: what if their number is no multiple of the programs'?":
            lambda traffic, case: stored_tiles(traffic) < tiles_of(case),
    },
    "9.8b": {
        "Some tiles belong to no program: the grid has all rows of tiles, and every TILES columns of them, rounded up.":
            lambda traffic, case: traffic.programs < cdiv(case.sizes["M"], 128) * cdiv(cdiv(case.sizes["N"], 256), traffic.launches[0].constants["TILES"]),
        "The last programs of a row own no tile at all: the grid has every TILES columns of tiles, not each of them.":
            lambda traffic, case: traffic.programs > cdiv(case.sizes["M"], 128) * cdiv(cdiv(case.sizes["N"], 256), traffic.launches[0].constants["TILES"]),
    },
}  # fmt: skip

STARTS = "Where a tile starts is counted in rows and columns of the matrix, not in tiles: `row` and `col`."
FAULTED = {
    "9.7a": {
        "A tile of b has BLOCK_K rows and BLOCK_N columns: is that the shape in its descriptor?":
            lambda fault, case: "equal reduction dimensions" in fault.message,
        "The tile that is stored has BLOCK_M rows and BLOCK_N columns: is that the shape in the descriptor of c?":
            lambda fault, case: "AssertionError" in fault.message and "store" in fault.text,
        "Something is stored in a: of which matrix is the descriptor c_desc made?":
            lambda fault, case: fault.kind == "race" and fault.argument == "a_desc",
        STARTS: lambda fault, case: "aligned" in fault.message or (fault.kind == "race" and max(fault.index) < 128),
        "First the row, then the column: two tiles meet because one of them is stored where another belongs.":
            lambda fault, case: fault.kind == "race",
    },
    "9.7b": {SAME_TILE: lambda fault, case: fault.kind == "race"},
    "9.7c": {
        "`tl.dot` takes the tile of x first, [BLOCK_M, BLOCK_K], then that of w, [BLOCK_K, BLOCK_N].":
            lambda fault, case: "equal reduction dimensions" in fault.message,
        STARTS: lambda fault, case: "aligned" in fault.message,
        "A tile of out starts at [row, col]: two tiles meet because one of them is stored where another belongs.":
            lambda fault, case: fault.kind == "race",
    },
    "9.8a": {
        "A tile of x sticks out below and on the right: its mask is `mask_m & mask_k[None, :]`.":
            lambda fault, case: fault.kind == "load outside" and fault.argument == "x",
    },
    "9.8b": {
        STARTS.replace("`row` and `col`", "tile * BLOCK_N"): lambda fault, case: "aligned" in fault.message,
        "x a is [BLOCK_M, RANK], and has its own accumulator, `xa`.": lambda fault, case: "accumulator" in fault.message,
    },
    "9.9a": {
        "w is loaded as int8, and x is float16: convert w with `.to(x.dtype)`.": lambda fault, case: "same dtype" in fault.message,
        "`scale` is loaded after the loop: multiply `acc` by it there, once.": lambda fault, case: "UnboundLocalError" in fault.message,
        "A tile of w sticks out below and on the right: its mask is `mask_k[:, None] & mask_n`.":
            lambda fault, case: fault.kind == "load outside" and fault.argument == "w",
    },
    "9.9b": {
        "x is float16, and the weights are still whole numbers: `from_bits` makes float16 of them.":
            lambda fault, case: "same dtype" in fault.message,
    },
}  # fmt: skip
