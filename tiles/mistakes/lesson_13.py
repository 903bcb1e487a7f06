"""Mistakes in lesson 13, what the compiler does: see `tiles.mistakes`. Those in stages and in the capstone: lesson_13_stages."""

import re

import numpy as np


def of_one_lane(numbers=None, vector=None):
    """Exercise 13.1 with another count of a lane's numbers, or of those that one instruction loads."""

    def given(BLOCK_SIZE, num_warps, itemsize):
        held = max(1, BLOCK_SIZE // (32 * num_warps))
        if numbers:
            return numbers(BLOCK_SIZE, num_warps, itemsize), None
        return held, held // vector(held, itemsize)

    return given


def a_part_of_a_number(*sizes, result):
    """Exercise 13.1 with less than one number in a lane."""
    return (result if np.ndim(result) == 0 and 0 <= result < 1 else None), None


def pieces(place, axis, size, threads, warps):
    return place[axis] // size[axis] % threads[axis]


def blocks(place, axis, size, threads, warps):
    return place[axis] // (size[axis] * threads[axis]) % warps[axis]


def own(lane_along=None, warp_along=None, lane_step=None, warp_step=None, axes=lambda order: order):
    """Exercise 13.2: with another place along an axis, another step along `order[1]`, or other axes; None for what is right."""

    def given(rows, cols, size, threads, warps, order):
        layout = (rows, cols), size, threads, warps
        fast, slow = axes(order)

        def number(along, step, counts):
            def place(axis):
                return along(layout[0], axis, *layout[1:])

            return place(fast) + (step(counts, fast, slow) if step else counts[fast]) * place(slow)

        changed = axes((7, 8)) != (7, 8)
        warp = number(warp_along or blocks, warp_step, warps) if warp_along or warp_step or changed else None
        lane = number(lane_along or pieces, lane_step, threads) if lane_along or lane_step or changed else None
        return warp, lane

    return given


def only_along(position, who):
    """Exercise 13.2 with the place along `order[position]` alone as the number of a warp, or of a lane."""

    def given(rows, cols, size, threads, warps, order):
        along = blocks if who == "warp" else pieces
        number = along((rows, cols), order[position], size, threads, warps)
        return (number, None) if who == "warp" else (None, number)

    return given


def in_the_mask(pattern):
    """Whether the line of the mask, or the one above it, of the first kernel launched matches."""
    return lambda traffic, case: re.search(pattern, traffic.launches[0].request[0].src)


def in_the_source(pattern):
    return lambda fault, case: re.search(pattern, fault.source)


NAMES = ("dtype", "first", "n_elements", "scale", "BLOCK_SIZE")


def pair(given, **values):
    """Exercise 13.6: `given` where two launches differ in these arguments alone, and the second has these values (None: any)."""

    def answer(one, other):
        changed = {name: b for name, a, b in zip(NAMES, one, other) if a != b}
        fits = changed.keys() == values.keys() and all(v in (None, changed[name]) for name, v in values.items())
        return given if fits else None

    return answer


def float16_as_four_bytes(one, other):
    return True if one[0] == other[0] == "float16" else None


MISTAKES = {
    "13.1": {
        "Where there are more lanes than numbers, every lane still has one.": a_part_of_a_number,
        "A warp has 32 lanes, and they share its numbers.": of_one_lane(lambda block, warps, itemsize: max(1, block // warps)),
        "That is for a single warp: all lanes of all warps share the tile.": of_one_lane(
            lambda block, warps, itemsize: max(1, block // 32)
        ),
        "Those are bytes, and the question is how many numbers.": of_one_lane(
            lambda block, warps, itemsize: max(1, block * itemsize // (32 * warps))
        ),
        "One instruction loads as many neighbours as 16 bytes hold, not one number.": of_one_lane(
            vector=lambda held, itemsize: 1
        ),
        "A lane with fewer numbers than 16 bytes hold loads what it has, with one instruction.": of_one_lane(
            vector=lambda held, itemsize: 16 // itemsize
        ),
        "That is right for numbers of 4 bytes: how many of `itemsize` bytes are in 16?": of_one_lane(
            vector=lambda held, itemsize: min(held, 4)
        ),
        "One instruction moves at most 16 bytes for a lane of an H100, whatever the size of a number.": of_one_lane(
            vector=lambda held, itemsize: held
        ),
    },
    "13.2": {
        "A lane holds a piece of `size` neighbours: which piece is this number in?": own(
            lane_along=lambda place, axis, size, threads, warps: place[axis] % threads[axis]
        ),
        "In a larger tile the pattern starts again: after the last lane along an axis comes the first one.": own(
            lane_along=lambda place, axis, size, threads, warps: place[axis] // size[axis]
        ),
        "In a larger tile the pattern starts again: after the last warp along an axis comes the first one.": own(
            warp_along=lambda place, axis, size, threads, warps: place[axis] // (size[axis] * threads[axis])
        ),
        "Along an axis a warp is as long as its lanes with their pieces: `threads` alone leaves out the pieces.": own(
            warp_along=lambda place, axis, size, threads, warps: place[axis] // threads[axis] % warps[axis]
        ),
        "Along an axis a warp is as long as its lanes with their pieces: `size` alone is one lane.": own(
            warp_along=lambda place, axis, size, threads, warps: place[axis] // size[axis] % warps[axis]
        ),
        "Lanes along an axis: `%` starts again after the last one; `//` counts how often all were used up.": own(
            lane_along=lambda place, axis, size, threads, warps: place[axis] // size[axis] // threads[axis]
        ),
        "Warps along an axis: `%` starts again after the last one; `//` counts how often all were used up.": own(
            warp_along=lambda place, axis, size, threads, warps: place[axis] // (size[axis] * threads[axis]) // warps[axis]
        ),
        "Lanes along `order[0]` count too, by 1 each.": only_along(1, "lane"),
        "Lanes along `order[1]` count too, by as many as lie along `order[0]`.": only_along(0, "lane"),
        "Warps along `order[0]` count too, by 1 each.": only_along(1, "warp"),
        "Warps along `order[1]` count too, by as many as lie along `order[0]`.": only_along(0, "warp"),
        "In the number of a lane, a step along `order[1]` counts as many as there are lanes along `order[0]`.": own(
            lane_step=lambda counts, fast, slow: counts[slow]
        ),
        "In the number of a warp, a step along `order[1]` counts as many as there are warps along `order[0]`.": own(
            warp_step=lambda counts, fast, slow: counts[slow]
        ),
        "In the number of a lane, a step along `order[1]` counts more than 1: lanes along `order[0]` lie between.": own(
            lane_step=lambda counts, fast, slow: 1
        ),
        "In the number of a warp, a step along `order[1]` counts more than 1: warps along `order[0]` lie between.": own(
            warp_step=lambda counts, fast, slow: 1
        ),
        "That counts along rows first, whatever the layout says: `order` tells the axis that comes first.": own(
            axes=lambda order: (1, 0)
        ),
        "`order[0]` is the axis along which neighbours in number are neighbours in the tile; yours takes the other one.": own(
            axes=lambda order: order[::-1]
        ),
    },
    "13.6": {
        "Of a `float`, nothing but its type counts.": pair(False, scale=None),
        "What counts of `n_elements` is not its value: 100 and 116 are both neither 1 nor a multiple of 16.": pair(
            False, n_elements=116
        ),
        "What counts of `n_elements` is whether it is a multiple of 16, not what is left over.": pair(False, n_elements=101),
        "The code for multiples of 16 is another one: 96 is a multiple of 16, and 100 is not.": pair(True, n_elements=96),
        "104 is a multiple of 8, and what counts is whether it is one of 16: it shares the kernel of 100.": pair(
            False, n_elements=104
        ),
        "96 and 112 are both multiples of 16, and whether of 32 does not count.": pair(False, n_elements=112),
        "96 and 512 are both multiples of 16; whether they fill blocks, or how many, the compiler does not ask.": pair(
            False, n_elements=512
        ),
        "2³¹ − 1 is the largest number that fits in 32 bits: it shares the kernel of 100.": pair(False, n_elements=2**31 - 1),
        "A multiple of 16 may be too large for 32 bits as well: several things count at once, as a tuple.": pair(
            True, n_elements=2**31 + 32
        ),
        "Beyond 32 bits too, multiples of 16 have code of their own: several things count at once, as a tuple.": pair(
            True, n_elements=2**31 + 16
        ),
        "1 becomes a constant, so it has a kernel of its own.": pair(True, n_elements=1),
        "2³¹ + 4 does not fit in 32 bits, so it has another type.": pair(True, n_elements=2**31 + 4),
        "What counts of `first` is whether the address is a multiple of 16 bytes, and `x[16:]` starts at one, as `x` does.": pair(
            False, first=16
        ),
        "The address must be a multiple of 16 bytes, not of 16 elements: `x[4:]` starts 16 bytes after `x`.": pair(
            False, first=4
        ),
        "2³¹ is the first number that does not fit in 32 bits: the largest that does is one less.": pair(True, n_elements=2**31),
        "What counts of `first` is whether the address is a multiple of 16 bytes, not what is left over.": pair(False, first=2),
        "`x[2:]` starts 8 bytes after `x`, which is no multiple of 16.": pair(True, first=2),
        "`BLOCK_SIZE` is a `constexpr`: its value is in the key.": pair(True, BLOCK_SIZE=None),
        "The type of `x` counts.": pair(True, dtype=None),
        "A `float16` has 2 bytes: `x[4:]` starts 8 bytes after `x`, and `x[8:]` 16.": float16_as_four_bytes,
    },
}

LAUNCHED = {
    "13.3": {
        "An argument of a kernel does not take the note of `tl.multiple_of`. Compute the mask so that it cannot differ.":
            in_the_mask(r"multiple_of\(\s*n_elements"),
        "`tl.assume` speaks to LLVM, and the width is settled before, on the way from TTGIR to LLIR.": in_the_mask(r"tl\.assume\("),
        "What `& -4` or `>>` does to the bits, TTGIR does not look at: divide and multiply instead.": in_the_mask(r"& ?-4|& ?~|>>"),
        "That a number less its `%` is a multiple, TTGIR does not see: `//` makes it plain.": in_the_mask(r"- ?\w+ ?% ?\d"),
        "`/` gives a float, and of comparisons of floats TTGIR knows nothing: `//` on both sides.": in_the_mask(r"[^/]/ ?4"),
        "That is for multiples of 16 only: here n_elements is a multiple of 4.": in_the_mask(r"// ?16"),
        "That tests the last of four for the first of them: it is for each element to say whether its own four exist.":
            in_the_mask(r"offs ?\+ ?3"),
    }
}  # fmt: skip

FAULTED = {
    "13.3": {
        "`<=` lets one more piece of four through: pieces are numbered from 0.": in_the_source(r"mask = [^\n#]*<="),
        "Both sides of the comparison have to count the same: numbers, or pieces of four.":
            in_the_source(r"mask = offs ?// ?4 ?< ?n_elements\s|mask = offs ?< ?n_elements ?// ?4\s*\n"),
    }
}  # fmt: skip
