"""Mistakes in lesson 02, memory: see `tiles.mistakes`."""

import re

import numpy as np


def ends(addresses, itemsize, segment, itemsize_less_one=None):
    addresses = np.asarray(addresses, dtype=np.int64)
    reach = itemsize - 1 if itemsize_less_one is None else itemsize_less_one
    return addresses // segment, (addresses + reach) // segment


def segments(addresses, itemsize, segment, reach=None):
    return np.union1d(*ends(addresses, itemsize, segment, reach)).size


def changes(first, last):
    return (first.size > 0) + np.count_nonzero(first[1:] != first[:-1]) + np.count_nonzero(first != last)


def of_ends(counted):
    """Exercise 2.1 with another count of the first and the last segments."""
    return lambda addresses, itemsize, segment: counted(*ends(addresses, itemsize, segment))


def in_floats(addresses, itemsize, segment):
    floats = np.asarray(addresses, dtype=np.float64)
    return np.union1d(floats // segment, (floats + itemsize - 1) // segment).size


def share(step, moved=lambda count, segment: segment * count, first_lane=0, pieces=None):
    """Exercise 2.2 with another step from lane to lane, other pieces, or another account of what they move."""

    def given(stride, itemsize, segment):
        lanes = np.arange(32) + first_lane
        piece = pieces or segment
        return 32 * itemsize / moved(segments(lanes * step(stride, itemsize), itemsize, piece), piece)

    return given


def right_step(stride, itemsize):
    return stride * itemsize


def matrices(a=None, b=None, c=None):
    """Exercise 2.3 with other addresses; None where that matrix is not spoken of."""

    def given(rows, cols, k, K, N):
        wanted = [None if way is None else way(rows, cols, k, K, N) for way in (a, b, c)]
        return tuple(None if addresses is None else segments(addresses, 4, 32) for addresses in wanted)

    return given


def energies(place):
    """Exercise 2.4: the energy of each particle, with another place for its fields."""

    def given(particles):
        n = len(particles)
        places = np.array([place(np.arange(n), field, n) for field in range(8)])
        if places.max() >= 8 * n:
            return None, None, None
        memory = np.zeros(8 * n)
        memory[places] = particles.T
        vx, vy, vz, mass = memory[places[3:7]]
        return mass * (vx**2 + vy**2 + vz**2) / 2, None, None

    return given


def banks(counted, bytes_per_word=4):
    """Exercise 2.5a with another count of the words, or of what an address counts."""
    return lambda addresses: counted(np.asarray(addresses) // bytes_per_word)


def busiest(words, number=32):
    return np.bincount(words % number).max()


def pages_in_a_row(x, starts, page_size):
    return x[: len(starts) * page_size].reshape(-1, page_size)


def sources(traffic):
    return "\n".join(launch.request[0].src for launch in traffic.launches)


def turned(traffic, case):
    """Exercise 2.6: whether the kernel was given x as it lies the other way round."""
    given = tuple(traffic.launches[0].request[1][0].shape)
    return given != case.inputs[0].shape and given == case.inputs[0].shape[::-1]


def tall(case):
    return case.inputs[0].shape[0] > case.inputs[0].shape[1]


def the_tile_is_unmasked(fault, case):
    """Exercise 2.6: rows is a tile, cols is a number, and the mask tests cols."""
    tile_of = {name: re.search(rf"^\s*{name} = [^\n#]*arange", fault.source, re.MULTILINE) for name in ("rows", "cols")}
    return tile_of["rows"] and not tile_of["cols"] and re.search(r"mask = \(?cols < N\b", fault.source)


def axes_of_the_grid_swapped(traffic, case):
    launch = traffic.launches[0]
    n_rows, n_cols = launch.request[1][0].shape
    right = (n_rows, -(-n_cols // launch.constants["BLOCK_SIZE"]))
    columns = re.search(r"program_id\(1\) \* BLOCK_SIZE", sources(traffic))
    return columns and launch.grid[:2] == right[::-1] != right


MISTAKES = {
    "2.1": {
        "A float keeps 53 bits of an address of 57: stay with whole numbers.": in_floats,
        "Some items reach into a second segment: look at the last byte of each.":
            of_ends(lambda first, last: np.unique(first).size),
        "Where an item ends with its segment, yours is one byte too far: an item of one byte ends where it begins.":
            lambda addresses, itemsize, segment: segments(addresses, itemsize, segment, itemsize),
        "A segment is counted again when the lanes come back to it: the order of the lanes must not matter.":
            of_ends(changes),
        "That is one for every lane, but a segment that several lanes touch moves once.":
            of_ends(lambda first, last: first.size + np.count_nonzero(first != last)),
        "A segment has a whole number: `/` keeps the rest of the division.": lambda addresses, itemsize, segment: np.union1d(
            np.asarray(addresses) / segment, (np.asarray(addresses) + itemsize - 1) / segment
        ).size,
        "Each lane counts twice, once for each end of its item, and a segment that several lanes touch moves once.":
            of_ends(lambda first, last: first.size + last.size),
        "Between the first and the last there is a segment that nobody reads.":
            of_ends(lambda first, last: last.max() - first.min() + 1 if first.size else 0),
        "The first and the last segments are counted apart, so most count twice: put both together, then drop what is double.":
            of_ends(lambda first, last: np.unique(first).size + np.unique(last).size),
    },
    "2.2": {
        "The addresses are in items, not in bytes.": share(lambda stride, itemsize: stride),
        "`moved` is in segments, not in bytes.": share(right_step, lambda count, segment: count),
        "Each segment moves `segment` bytes, not `itemsize`.":
            lambda stride, itemsize, segment: 32 / segments(np.arange(32) * stride * itemsize, itemsize, segment),
        "That is one address: there are 32 lanes, and each has its own.": share(lambda stride, itemsize: 0),
        "Those are fewer than 32 lanes: `np.arange(32)` numbers all of them, and the stride sets them apart.":
            lambda stride, itemsize, segment: (
                32 * itemsize / (segment * segments(np.arange(0, 32, stride) * itemsize, itemsize, segment))
            ),
        "Here all items have 4 bytes: they have `itemsize`.": share(lambda stride, itemsize: 4 * stride),
        "Here all segments are sectors of 32 bytes: they have `segment` bytes.": share(right_step, pieces=32),
        "It does not fall forever: from some stride on, every lane has a segment of its own.":
            lambda stride, itemsize, segment: 1 / stride,
        "The first lane is lane 0, and reads item 0.": share(right_step, first_lane=1),
    },
    "2.3": {
        "The lanes read `A[row, k]`: where does the step `k` come in?": matrices(a=lambda rows, cols, k, K, N: 4 * rows * K),
        "The lanes read `B[k, col]`: where does the step `k` come in?":
            matrices(b=lambda rows, cols, k, K, N: 4 * (cols + 0 * rows)),
        "The addresses are in numbers, not in bytes: a float32 has 4.": matrices(
            lambda rows, cols, k, K, N: rows * K + k,
            lambda rows, cols, k, K, N: k * N + cols,
            lambda rows, cols, k, K, N: rows * N + cols,
        ),
        "Look at the length of a row of A: is it K or N?": matrices(a=lambda rows, cols, k, K, N: 4 * (rows * N + k)),
        "Look at the length of a row of C: is it K or N?":
            matrices(c=lambda rows, cols, k, K, N: 4 * (rows * K + cols)),
        "The lanes read `B[k, col]`, row k and column col; yours are in row col.":
            matrices(b=lambda rows, cols, k, K, N: 4 * (cols * N + k)),
        "Yours walks down the columns of B, and B is stored row by row.":
            matrices(b=lambda rows, cols, k, K, N: 4 * (cols * K + k)),
        "All lanes read `B[k, col]`: which of its two numbers is the row?":
            matrices(b=lambda rows, cols, k, K, N: 4 * (rows * N + cols)),
        "The lanes read `A[row, k]`: which of its two numbers is the column?":
            matrices(a=lambda rows, cols, k, K, N: 4 * (rows * K + cols)),
        "Look at the length of a row of B: it has N numbers.": matrices(b=lambda rows, cols, k, K, N: 4 * (k * K + cols)),
        "The lanes read `A[row, k]`: `row`, not `k`, counts rows of A.": matrices(a=lambda rows, cols, k, K, N: 4 * (k * K + rows)),
    },
    "2.4": {
        "Every sector is touched: what is needed still shares sectors with what is not.": lambda particles: (None, len(particles)),
        "That is right for 32 particles only: there are n, so how many floats has a field?":
            energies(lambda i, field, n: 32 * field + i),
        "The fields overlap: a field has n floats, not 8.": energies(lambda i, field, n: 8 * field + i),
        "Some floats share a place, and the later one overwrites the other.":
            lambda particles, result: (None, None, result if np.ndim(result) == 0 and result < 8 * len(particles) else None),
    },
    "2.5a": {
        "Lanes that want the same word are served together: drop what is double before you count.": banks(busiest),
        "An address counts bytes, and a word has 4 bytes.": banks(lambda words: busiest(np.unique(words)), bytes_per_word=1),
        "Each number occurs once there. Were equal banks dropped, not equal words? Or is the bank of a word, `% 32`, missing?":
            banks(lambda words: 1),
        "That is how many banks are busy: how many words has the busiest one to hand out?":
            banks(lambda words: np.unique(words % 32).size),
        "That is which bank is the busiest, not how many words it hands out.":
            banks(lambda words: np.bincount(np.unique(words) % 32).argmax()),
        "That is how many words there are, in all banks together.": banks(lambda words: np.unique(words).size),
        "That would be right for 16 banks.": banks(lambda words: busiest(np.unique(words), 16)),
    },
    "2.5b": {
        "This width needs no padding: its columns are spread over all banks.": lambda width: width + 1,
        "Without padding, the words of a column share a few banks.": lambda width: width,
        "33 is for rows of 32 words: start from `width`, and add to it only where it needs padding.": lambda width: 33,
    },
    "2.5c": {
        "The result leaves its row: what keeps it below 32?": lambda n_rows: (None, n_rows - 1),
        "The result leaves its row: what brings a sum back below 32?": lambda n_rows: (None, n_rows + 30),
        "The result is negative for some elements: what brings a difference back to 0 or more?":
            lambda n_rows: (1 - n_rows,),
        "All elements of a row get one place: where does `col` come in?": lambda n_rows: (None, None, None, None, n_rows),
        "All words of a column lie in one bank: each row must shuffle in another way.":
            lambda n_rows: (None, None, None, 32),
        **{
            f"In a column, {rows} of 32 rows meet in one bank: they shuffle in the same way.":
                lambda n_rows, rows=rows: (None, None, None, rows)
            for rows in (2, 4, 8, 16)
        },
    },
    "2.7": {
        "The pages come from other places: where they start stands in `starts`.": pages_in_a_row,
    },
}  # fmt: skip

RAISED = {
    "2.4": {
        "A place is a number from 0 to 8 n - 1. A field has n floats: how many lie before the first one of `field`?": r"IndexError: index -?\d+ is out of bounds",
        "Memory is one row of floats: `place` gives one number for each of the particles `i`.": r"ValueError",
    },
}

LAUNCHED = {
    "2.6": {
        "The grid's axis 0 counts rows, and axis 1 tiles of columns.": lambda traffic, case: re.search(
            r"rows = tl\.program_id\(1\)", sources(traffic)
        ),
        "How many columns lie before those of tile 1?": lambda traffic, case: re.search(
            r"program_id\(1\) \+ tl\.arange", sources(traffic)
        ),
        "The shape does not tell how a matrix is stored; its strides do.": lambda traffic, case: (
            turned(traffic, case) == (case.order == "C") and turned(traffic, case) == tall(case)
        ),
        "This x is stored row by row, and the launcher turned it.": lambda traffic, case: (
            turned(traffic, case) and case.order == "C"
        ),
        "This x is stored column by column, and the launcher did not turn it.": lambda traffic, case: (
            not turned(traffic, case) and case.order == "F"
        ),
        "The kernel takes its row from axis 0: along which axis of the grid are there as many programs as rows?":
            axes_of_the_grid_swapped,
    },
    "2.7": {
        "You promised it of the place in the table, not of the start that is read there.": lambda traffic, case: re.search(
            r"tl\.load\(.*tl\.multiple_of\(", sources(traffic)
        ),
    },
}  # fmt: skip

FAULTED = {
    "2.6": {
        "Here rows is a tile, and the mask tests cols: which of the two must be the tile?": the_tile_is_unmasked,
        "The last column is N - 1.": lambda fault, case: re.search(r"mask = \(?cols <= N\b", fault.source),
        "How many columns lie before those of tile 1?": lambda fault, case: re.search(
            r"program_id\(1\) \+ tl\.arange", fault.source
        ),
        "Several programs get beyond the end of a row: does the mask let columns past N through?": lambda fault, case: (
            fault.kind == "race" and re.search(r"mask = \(?rows < M\)?\s*(#.*)?$", fault.source, re.MULTILINE)
        ),
    },
}
