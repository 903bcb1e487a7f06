"""Mistakes in lesson 08, softmax and its neighbours: see `tiles.mistakes`."""

import re

import numpy as np

# ---- softmax, exercises 8.1, 8.2 and 8.7


def tile_of(x, size=None):
    """Rows as a kernel sees them: lanes beyond the row, as many as the next power of two (or a multiple of `size`) has. [M, lanes], mask."""
    n = x.shape[1]
    lanes = -(-n // size) * size if size else 1 << max(4, (n - 1).bit_length())
    tile = np.zeros((x.shape[0], lanes))
    tile[:, :n] = x
    return tile, np.arange(lanes) < n


def one_tile(
    other=-np.inf,
    m=lambda x: x.max(-1),
    p=lambda x, m: np.exp(x - m),
    total=lambda p: p.sum(-1),
    out=lambda p, total, x: p / total,
):
    """Exercise 8.1 with other steps, for rows of any length."""

    def given(x):
        tile, mask = tile_of(x)
        tile[:, ~mask] = other
        terms = p(tile, np.maximum(m(tile), np.finfo(np.float32).min)[:, None])
        return out(terms, np.maximum(total(terms), 1.0)[:, None], tile)[:, mask]

    return given


def rows_of_infinity_are_nan(x, result):
    """A row of nothing but -inf is nan, and every other row is right."""
    right = one_tile()(x)
    lost = np.isneginf(x).all(-1)
    if not lost.any():
        return None
    right[lost] = np.nan
    return right


def three_digits(x, result):
    """The result, where every weight is right to about three digits."""
    right = one_tile()(x)
    return result if (np.abs(np.asarray(result, float) - right) <= 3e-3 * right).all() else None


def every_row_is_the_first(x):
    """None where there is one row."""
    return np.broadcast_to(one_tile()(x[:1]), x.shape) if len(x) > 1 else None


ROW_OF_INFINITY = "A row of nothing but -inf gives nan. Is the maximum at least LOWEST, and the sum at least 1?"
NO_ROW = "Every row holds the result of row 0: does the address have `row * stride_xm`?"
ONE_TILE = {
    NO_ROW: every_row_is_the_first,
    "That is p, before it is divided by the sum l.": one_tile(out=lambda p, total, x: p),
    "That is x - m: the exponential is missing.": one_tile(out=lambda p, total, x: x - x.max(-1, keepdims=True)),
    "The lanes beyond the row hold 0, and each adds a term to the sum: give them -inf.": one_tile(other=0.0),
    "The exponential is taken of x: subtract m first, and no exponential is above 1.": one_tile(p=lambda x, m: np.exp(x)),
    "All weights are equal, as if each score were the largest: tl.max makes one number of a tile.": lambda x: np.exp(0 * x) / x.shape[1],
    "It is divided by the number of columns: divide by the sum of the exponentials.": lambda x: one_tile()(x) * one_tile(
        out=lambda p, total, x: 0 * x + total)(np.where(np.isneginf(x), -1e30, x)) / x.shape[1],
    "The weights are right to three digits: is something between the load and the store float16, or a constant too short?": three_digits,
    "That is the logarithm of the weights: divide the exponentials.": one_tile(out=lambda p, total, x: x - x.max(-1, keepdims=True) - np.log(total)),
}  # fmt: skip


def lanes_of(x, size=8192):
    """Scores as the lanes of exercise 8.2 meet them: [turns, M, lanes]."""
    n = x.shape[1]
    turns = -(-n // size)
    tile = np.full((x.shape[0], turns * size), -np.inf)
    tile[:, :n] = x
    return tile.reshape(x.shape[0], turns, size).transpose(1, 0, 2)


def by_lanes(step=None, sums=None, bases=(np.e, np.e, np.e), scale=lambda total: 1 / np.maximum(total, 1.0)):
    """Exercise 8.2 with other steps.

    step: (m_i, l_i, x, e) -> (m_i, l_i). sums: (l_i, factor, m_i, m) -> the sum of the row; factor is exp(m_i - m), as it should be.
    bases: of the exponentials in the first loop, after it, and in the second loop.
    """
    step = step or (lambda m_i, l_i, x, e: (np.maximum(m_i, x), np.where(x > m_i, l_i * e + 1, l_i + e)))
    sums = sums or (lambda l_i, factor, m_i, m: (l_i * factor).sum(-1, keepdims=True))

    def given(x):
        turns = lanes_of(x)
        m_i, l_i = np.full(turns.shape[1:], float(np.finfo(np.float32).min)), np.zeros(turns.shape[1:])
        for tile in turns:
            m_i, l_i = step(m_i, l_i, tile, bases[0] ** -np.abs(tile - m_i))
        m = m_i.max(-1, keepdims=True)
        return bases[2] ** (x - m) * scale(sums(l_i, bases[1] ** (m_i - m), m_i, m))

    return given


def larger(m_i, x):
    return np.maximum(m_i, x)


def own_maximum(x):
    """Each lane measures its scores against its own maximum to the end."""
    turns = lanes_of(x)
    m_i = turns.max(0)
    weights = np.exp(turns - m_i) / np.exp(turns - m_i).sum((0, 2), keepdims=True).transpose(0, 1, 2)
    return weights.transpose(1, 0, 2).reshape(len(x), -1)[:, : x.shape[1]]


def by_column(of_lanes, x):
    """Numbers of lanes [M, lanes], as the columns of x meet them in exercise 8.2."""
    return of_lanes[:, np.arange(x.shape[1]) % of_lanes.shape[1]]


def lanes_at_the_end(weights):
    """Exercise 8.2 with another end: weights(x, m_i of each column, l_i of each column, m, the sum of all l_i, the right sum)."""

    def given(x):
        turns = lanes_of(x)
        m_i = np.maximum(turns.max(0), np.finfo(np.float32).min)
        l_i = np.exp(turns - m_i).sum(0)
        m = m_i.max(-1, keepdims=True)
        right = (l_i * np.exp(m_i - m)).sum(-1, keepdims=True)
        return weights(x, by_column(m_i, x), by_column(l_i, x), m, l_i.sum(-1, keepdims=True), right)

    return given


def at_least_1(total):
    return np.maximum(total, 1.0)


LONG = {
    "The two branches of tl.where are exchanged: where x is the larger, the old sum is rescaled and the new term is 1.":
        by_lanes(lambda m_i, l_i, x, e: (larger(m_i, x), np.where(x > m_i, l_i + e, l_i * e + 1))),
    "The sum is never rescaled: where x is the larger, what l_i holds was measured against a smaller maximum.":
        by_lanes(lambda m_i, l_i, x, e: (larger(m_i, x), l_i + np.where(x > m_i, 1, e))),
    "The sum is rescaled in every turn: where the maximum stays, it stays as well.":
        by_lanes(lambda m_i, l_i, x, e: (larger(m_i, x), l_i * e + np.where(x > m_i, 1, e))),
    "The new term is missing where x is the larger: it is 1, and `l_i * e` is the old sum alone.":
        by_lanes(lambda m_i, l_i, x, e: (larger(m_i, x), np.where(x > m_i, l_i * e, l_i + e))),
    "Each lane keeps to its own maximum: m is one number, `tl.max(m_i)`, and each lane's factor belongs inside the sum.":
        lanes_at_the_end(lambda x, m_i, l_i, m, total, right: np.exp(x - m) / at_least_1(total * np.exp(m_i - m))),
    "Each lane keeps its own sum: `tl.sum` adds up those of all lanes.":
        lanes_at_the_end(lambda x, m_i, l_i, m, total, right: np.exp(x - m) / at_least_1(l_i * np.exp(m_i - m))),
    "The weights are measured against m, the largest score of the row; yours against m_i, that of each lane.":
        lanes_at_the_end(lambda x, m_i, l_i, m, total, right: np.exp(x - m_i) / at_least_1(right)),
    "Every new term is e: the term of a new maximum is exp(0), which is 1.":
        by_lanes(lambda m_i, l_i, x, e: (larger(m_i, x), np.where(x > m_i, l_i * e + e, l_i + e))),
    "Every new term is 1: a score below the maximum adds e.":
        by_lanes(lambda m_i, l_i, x, e: (larger(m_i, x), np.where(x > m_i, l_i * e + 1, l_i + 1))),
    "m_i is the last score of each lane: keep the larger of the two.":
        by_lanes(lambda m_i, l_i, x, e: (x, np.where(x > m_i, l_i * e + 1, l_i + e))),
    "scale is 1: either p is not multiplied by it, or the sum is nan. Is every e at most 1, exp(-abs(x - m_i))?":
        by_lanes(scale=lambda total: 1.0),
    "All exponentials are powers of 2: exp(x) is exp2(x * LOG2E).": by_lanes(bases=(2, 2, 2)),
    "e is a power of 2, and the others are not: exp(x) is exp2(x * LOG2E).": by_lanes(bases=(2, np.e, np.e)),
    "The weights are powers of 2: exp(x) is exp2(x * LOG2E).": by_lanes(bases=(np.e, np.e, 2)),
    "The factors of the lanes' sums are powers of 2: exp(x) is exp2(x * LOG2E).": by_lanes(bases=(np.e, 2, np.e)),
    "The weights are powers of another base: e^x is 2^(x * LOG2E), so LOG2E multiplies.": by_lanes(bases=(np.e, np.e, 2 ** np.log(2))),
    "The weights are not divided: multiply by scale, not by the sum.": by_lanes(scale=lambda total: np.maximum(total, 1.0)),
    "m_i holds the largest score of a tile in every lane: tl.maximum compares lane by lane.":
        by_lanes(lambda m_i, l_i, x, e: (0 * m_i + x.max(-1, keepdims=True), np.where(x > m_i, l_i * e + 1, l_i + e))),
    "m_i holds the largest score of all lanes: tl.maximum compares lane by lane.":
        by_lanes(lambda m_i, l_i, x, e: (larger(m_i, x.max(-1, keepdims=True)), np.where(x > m_i, l_i * e + 1, l_i + e))),
    "Each lane keeps to its own maximum: tl.max(m_i) makes one number of all.": own_maximum,
    "The lanes' sums are multiplied by exp(m - m_i): to be measured against the larger m, they shrink by exp(m_i - m).":
        by_lanes(sums=lambda l_i, factor, m_i, m: (l_i / factor).sum(-1, keepdims=True)),
    "The lanes' sums are added as they are: each is measured against the lane's own m_i, and needs exp(m_i - m) first.":
        by_lanes(sums=lambda l_i, factor, m_i, m: l_i.sum(-1, keepdims=True)),
    "Only the sum of one lane is left: after the loop, the sums of all lanes are added up.":
        by_lanes(sums=lambda l_i, factor, m_i, m: (l_i * factor).max(-1, keepdims=True)),
}  # fmt: skip


def backward(dx=lambda y, dy, s: y * (dy - s), s=lambda y, dy: (y * dy).sum(-1, keepdims=True)):
    """Exercise 8.3 with other steps. Some mistakes are large where dx is small, so their own size says what is near."""

    def given(y, dy, result):
        mistaken = dx(y, dy, s(y, dy))
        return result if np.allclose(result, mistaken, rtol=1e-4, atol=1e-5 * np.abs(mistaken).max(initial=0)) else mistaken

    return given


def rounded_sum(y, dy, result):
    """The result, where it is right but for a sum that has lost digits."""
    s = (y * dy).sum(-1, keepdims=True)
    off = np.divide(y * (dy - s) - result, y, out=np.zeros_like(y), where=y > 1e-4 * y.max(-1, keepdims=True))
    size = np.abs(off).max(-1, keepdims=True)
    one_number = np.ptp(off, axis=-1, keepdims=True) <= 0.2 * size
    return result if (one_number | (size < 1e-6)).all() and 0 < size.max() < 1e-2 else None


def of_the_first_row(which):
    """Exercise 8.3 where one input is read without its row; None where there is one row."""

    def given(y, dy, result):
        if len(y) == 1:
            return None
        inputs = [y, dy]
        inputs[which] = np.broadcast_to(inputs[which][:1], y.shape)
        return backward()(*inputs, result)

    return given


def infinite(y, dy, result):
    """The result, where whole rows of a tile with lanes to spare are nan or infinite."""
    n = y.shape[1]
    return result if n != max(16, 1 << (n - 1).bit_length()) and not np.isfinite(result).any(-1).any() else None


BACKWARD = {
    "Every row takes y from row 0: does its address have `row * stride_ym`?": of_the_first_row(0),
    "Every row takes dy from row 0: does its address have `row * stride_dym`?": of_the_first_row(1),
    "The lanes beyond the row must add 0 to the sum: `other=0.0`.": infinite,
    "The sum is of dy alone: it is of the products y * dy.": backward(s=lambda y, dy: dy.sum(-1, keepdims=True)),
    "The sum is missing: that is y * dy.": backward(dx=lambda y, dy, s: y * dy),
    "The sum is not multiplied by y: y * (dy - sum), with the parentheses.": backward(dx=lambda y, dy, s: y * dy - s),
    "The factor y is missing: that is dy minus the sum.": backward(dx=lambda y, dy, s: dy - s),
    "The sum is added: it is subtracted from dy.": backward(dx=lambda y, dy, s: y * (dy + s)),
    "The sign is flipped: dy minus the sum, not the sum minus dy.": backward(dx=lambda y, dy, s: y * (s - dy)),
    "The mean of y * dy stands where its sum belongs.": backward(s=lambda y, dy: (y * dy).mean(-1, keepdims=True)),
    "y and dy have changed places.": backward(dx=lambda y, dy, s: dy * (y - s)),
    "That is y * (1 - y) * dy, the diagonal alone: every weight depends on every score.": backward(dx=lambda y, dy, s: y * (1 - y) * dy),
    "The sum has lost digits: multiply and add up in float32.": rounded_sum,
    "The largest product stands where the sum belongs: tl.sum.": backward(s=lambda y, dy: (y * dy).max(-1, keepdims=True)),
}  # fmt: skip


LOWEST = float(np.finfo(np.float32).min)


def by_parts(merge):
    """Exercise 8.8 with other merging: merge(m_i, l_i, part) gives m and l of a row, from the notes of its parts."""

    def given(x, lag, BLOCK_SIZE, num_warps):
        parts = 1 << (-(-x.shape[1] // BLOCK_SIZE) - 1).bit_length()
        tiles = np.full((len(x), parts * BLOCK_SIZE), -np.inf)
        tiles[:, : x.shape[1]] = x
        tiles = tiles.reshape(len(x), parts, BLOCK_SIZE)
        m_i = np.maximum(tiles.max(-1), LOWEST)
        l_i = np.exp(tiles - m_i[..., None]).sum(-1)
        m, total = merge(m_i[:, None, :], l_i[:, None, :], np.arange(parts)[:, None])
        total = np.broadcast_to(total, m.shape) if np.ndim(total) == 0 else total
        return np.exp(x - spread(m, x, BLOCK_SIZE)) / spread(np.maximum(total, 1.0), x, BLOCK_SIZE)

    return given


def spread(numbers, x, BLOCK_SIZE):
    """Numbers for the parts of each row, (rows, parts or 1) or with an axis of 1 behind, for every score."""
    numbers = numbers.reshape(len(x), -1)
    return np.repeat(numbers, BLOCK_SIZE, axis=1)[:, : x.shape[1]] if numbers.shape[1] > 1 else numbers


def largest(m_i):
    return m_i.max(-1, keepdims=True)


RELAY = {
    "The sums of the parts are added as they are: each is measured against its own m_i, and needs exp(m_i - m) first.":
        by_parts(lambda m_i, l_i, part: (largest(m_i), l_i.sum(-1, keepdims=True))),
    "The factors of the sums are powers of 2: exp(x) is exp2(x * LOG2E).":
        by_parts(lambda m_i, l_i, part: (largest(m_i), (l_i * 2.0 ** (m_i - largest(m_i))).sum(-1, keepdims=True))),
    "Each part is finished with its own note: read those of all parts of row `old`.":
        by_parts(lambda m_i, l_i, part: (np.swapaxes(m_i, 1, 2), np.swapaxes(l_i, 1, 2))),
    "m is the smallest of the parts' maxima: `tl.max(m_i)`.":
        by_parts(lambda m_i, l_i, part: (m_i.min(-1, keepdims=True), (l_i * np.exp(m_i - m_i.min(-1, keepdims=True))).sum(-1, keepdims=True))),
    "The sum is no number: a part with no score has m = LOWEST, not -inf, and `tl.maximum(tl.max(x), LOWEST)` sees to that.":
        by_parts(lambda m_i, l_i, part: (largest(m_i), 1.0)),
    "Only the largest sum is left: those of all parts are added up.":
        by_parts(lambda m_i, l_i, part: (largest(m_i), largest(l_i * np.exp(m_i - largest(m_i))))),
    "The note holds the sum first: packed takes the maximum first, and unpacked gives it first.":
        by_parts(lambda m_i, l_i, part: (largest(l_i), (m_i * np.exp(l_i - largest(l_i))).sum(-1, keepdims=True))),
}  # fmt: skip

MISTAKES = {
    "8.1": {ROW_OF_INFINITY: rows_of_infinity_are_nan, **ONE_TILE},
    "8.2": {ROW_OF_INFINITY: rows_of_infinity_are_nan, **LONG},
    "8.3": BACKWARD,
    "8.8": RELAY,
}

WITHOUT_MASK = {
    "This access has no mask: the lanes beyond the row belong to somebody else.": lambda fault, case: (
        fault.kind.endswith(("outside", "race")) and re.search(r"tl\.(load|store)\(", fault.text) and "mask" not in fault.text
    ),
}

RELAY_FAULTS = {
    "`read_notes` waits for the notes and reads them anew; a plain load does not.": lambda fault, case: (
        fault.kind == "race" and fault.argument == "note" and "tl.load(" in fault.text and "volatile" not in fault.text
    ),
    "A note must be stored whole: `tl.atomic_xchg` does, a plain store promises nothing to those who read at the same time.": lambda fault, case: (
        fault.kind == "race" and fault.argument == "note"
    ),
    "Nothing promises that programs start in the order of program_id: draw a ticket.": lambda fault, case: (
        fault.kind == "waiting" and "tl.atomic_add(" not in (fault.source or "tl.atomic_add(")
    ),
    "Is row and part what `//` and `%` of the ticket by PARTS give, and does each part of each row leave a note where it is read?": lambda fault, case: (
        fault.kind == "waiting"
    ),
}  # fmt: skip

FAULTED = {"8.1": WITHOUT_MASK, "8.3": WITHOUT_MASK, "8.8": RELAY_FAULTS}
