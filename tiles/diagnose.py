"""From the pattern of an error to a sentence about its likely cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations_with_replacement

import numpy as np

from tiles.cases import Case

SUBTRACT = "Subtract the maximum before the exponential."
BLOCK_NAMES = ("BLOCK_SIZE", "block_size", "BLOCK_N", "BLOCK_M", "block_k", "block_q")


class Difference:
    """A result beside what it should be.

    got, expected: arrays of one shape. tolerance: the largest right difference, elementwise.
    unwritten: which elements were never stored. sizes: block sizes and others, by name. kind: of the case's values.
    exponential: whether an exponential or a logarithm is near, to which inf and nan may be due.
    """

    def __init__(
        self,
        got,
        expected,
        tolerance,
        unwritten=None,
        sizes: Mapping[str, int] | None = None,
        kind: str = "",
        exponential: bool = True,
    ):
        self.kind, self.exponential = kind, exponential
        self.truths = np.asarray(expected).dtype.kind == "b"
        self.got = np.asarray(got, float)
        self.expected = np.asarray(expected, float)
        self.tolerance = np.broadcast_to(tolerance, self.expected.shape)
        self.sizes = dict(sizes or {})
        with np.errstate(all="ignore"):
            close = np.abs(self.got - self.expected) <= self.tolerance
        self.bad = ~(close | (self.got == self.expected))  # a nan is never right
        self.unwritten = np.zeros(self.bad.shape, bool) if unwritten is None else unwritten & self.bad

    @property
    def first(self) -> tuple[int, ...]:
        return tuple(int(i) for i in np.argwhere(self.bad)[0])

    @property
    def block(self) -> int | None:
        return _block(self.sizes)

    @property
    def by_programs(self) -> bool:
        """Whether programs own the blocks, as in a launch; in a NumPy lesson, a loop goes from block to block."""
        return not any(name in self.sizes for name in BLOCK_NAMES if name.islower())

    def describe(self, name: str = "") -> str:
        """How many values differ and where: one sentence."""
        of = f" of {name}" if name else ""
        got, expected = numbers(self.got[self.first], self.expected[self.first])
        if self.truths and self.got[self.first] in (0, 1):
            got, expected = str(bool(self.got[self.first])), str(bool(self.expected[self.first]))
        if self.bad.ndim == 0:
            return f"{name or 'The result'} is {got}, expected {expected}."
        yours = "never written" if self.unwritten[self.first] else f"yours {got}"
        if self.bad.size == 1:
            return f"The only value{of} is wrong: {yours}, expected {expected}."
        index = self.first[0] if len(self.first) == 1 else self.first
        count = f"{self.bad.sum()} of {self.bad.size} values{of} differ"
        return f"{count}; first at index {index}: {yours}, expected {expected}."


def _block(sizes: Mapping[str, int]) -> int | None:
    return next((int(sizes[name]) for name in BLOCK_NAMES if name in sizes), None)


def _number(value) -> str:
    return f"{float(value):.6g}"


def numbers(got, expected) -> tuple[str, str]:
    """Two numbers that differ, with six digits, or with as many as it takes to tell them apart."""
    got, expected = float(got), float(expected)
    digits = next((n for n in range(6, 17) if f"{got:.{n}g}" != f"{expected:.{n}g}"), 6)
    return f"{got:.{digits}g}", f"{expected:.{digits}g}"


def amount(value: float) -> str:
    """A count in a sentence: three digits, and no exponent: "12", "4,096", "1.33"."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _ratio(d: Difference, where=None) -> np.ndarray:
    """got / expected where both are finite and the expected value is large enough to divide by."""
    where = np.ones(d.bad.shape, bool) if where is None else where
    usable = where & np.isfinite(d.got) & np.isfinite(d.expected) & (np.abs(d.expected) > 10 * d.tolerance) & (d.expected != 0)
    return d.got[usable] / d.expected[usable]


def _is_constant(numbers: np.ndarray, spread: float = 1e-3) -> bool:
    return numbers.size > 1 and np.ptp(numbers) <= spread * max(1e-30, np.abs(numbers).max())


def nothing_written(d: Difference) -> str | None:
    if d.unwritten.all() and d.bad.size:
        if not d.by_programs:
            return "Nothing was written: does the loop go through one block at least, and does it assign to the output?"
        return "Nothing was written: is there a store, does it go to the output, and what does its mask let through?"


def tail_not_written(d: Difference) -> str | None:
    if not d.unwritten.any() or d.unwritten.ndim != 1:
        return None
    missing = np.flatnonzero(d.unwritten)
    if missing[-1] == d.bad.size - 1 and len(missing) == d.bad.size - missing[0]:
        block = d.block
        which = "The last one was" if len(missing) == 1 else f"The last {len(missing)} were"
        if block and missing[0] % block == 0 and len(missing) <= block:
            unit = "program" if d.by_programs else "block"
            return f"{which} never written: that is one {unit} too few. The number of {unit}s is rounded up, not down."
        reach = "do the grid and the mask" if d.by_programs else "does the loop"
        return f"{which} never written: {reach} reach to the end?"


def some_not_written(d: Difference) -> str | None:
    if d.unwritten.any() and (d.unwritten == d.bad).all():
        who = "program should have stored them, and does its mask let it" if d.by_programs else "block should have stored them"
        return f"{d.unwritten.sum()} elements were never written: which {who}?"


def only_first_block_right(d: Difference) -> str | None:
    block = d.block
    if d.bad.ndim == 1 and block and d.bad.size > block and not d.bad[:block].any() and d.bad[block:].mean() > 0.9:
        return f"Only the first {block} are right: what must the next block add to its offsets, or carry over?"


def only_last_block_wrong(d: Difference) -> str | None:
    block = d.block
    if d.bad.ndim == 1 and block and d.bad.size > block:
        last = (d.bad.size - 1) // block
        if d.bad[last * block :].any() and not d.bad[: last * block].any():
            if d.bad.size % block == 0:
                return f"Only the last block ({last}) is wrong."
            if d.by_programs:
                return f"Only the last program ({last}) is wrong: look at the mask."
            return f"Only the last block ({last}), a shorter one, is wrong: look at where it ends."


def transposed(d: Difference) -> str | None:
    if d.expected.ndim == 2 and d.expected.size > 1:
        flat_transpose = d.expected.T.reshape(d.expected.shape)
        close = np.abs(d.got - flat_transpose) <= d.tolerance + np.abs(flat_transpose) * 1e-3
        if close.all():
            return "These are the right values, transposed: which index goes with which stride?"


def rows_exchanged(d: Difference) -> str | None:
    """Each wrong row (or matrix of a batch) is a right one that belongs elsewhere."""
    if d.expected.ndim < 2 or len(d.expected) < 2:
        return None
    what = "rows" if d.expected.ndim == 2 else "matrices of the batch"
    slack = d.tolerance + 1e-3 * np.abs(d.expected)
    wrong = [i for i in range(len(d.expected)) if d.bad[i].any()]
    homes = {i: [j for j in range(len(d.expected)) if (np.abs(d.got[i] - d.expected[j]) <= slack[j]).all()] for i in wrong}
    if len(wrong) > 1 and all(homes.values()):
        return f"The {what} are right but exchanged: number {wrong[0]} holds number {homes[wrong[0]][0]}. Which one does a program own?"


def permuted(d: Difference) -> str | None:
    if 2 < d.bad.size and np.isfinite(d.got).all() and np.abs(d.got - d.expected).max() > 0.01 * np.ptp(d.expected) > 0:
        order = np.argsort(d.expected, axis=None)
        got, expected, tolerance = np.sort(d.got, axis=None), d.expected.flat[order], d.tolerance.flat[order]
        if np.allclose(got, expected, rtol=1e-3, atol=tolerance):
            return "The values are right but stand in another order: look at the offsets of the store."


def shifted(d: Difference) -> str | None:
    if d.bad.ndim == 1 and d.bad.size > 8:
        for step in (1, -1):
            moved, tolerance = np.roll(d.expected, step), np.roll(d.tolerance, step)
            inner = slice(2, -2)
            if np.allclose(d.got[inner], moved[inner], rtol=1e-3, atol=tolerance[inner]) and np.ptp(d.expected) > 0:
                return f"Every value stands one place too {'late' if step == 1 else 'early'}: look at the first offset."


def all_zero(d: Difference) -> str | None:
    if not d.bad.any() or d.got[d.bad].any():
        return None
    if (d.expected[d.bad] < 0).all() and (d.bad.size == 1 or d.bad.sum() > 1 or "negative" in d.kind or not d.kind):
        return "It is 0 where a negative number is expected: does a maximum start from 0?"
    if d.bad.sum() > 1:
        return "The wrong values are all 0."


def not_clipped(d: Difference) -> str | None:
    if d.bad.sum() > 1 and not d.expected[d.bad].any() and (d.got[d.bad] < 0).all():
        return "Where 0 is expected, yours is negative."


def along_the_other_axis(d: Difference) -> str | None:
    error = d.got - d.expected
    if error.ndim != 2 or min(error.shape) < 3 or not np.isfinite(error).all():
        return None
    rest = error - error[:, :1] - error[:1] + error[0, 0]  # 0 where the error is a column plus a row
    size = np.abs(error).max()
    varies = np.ptp(error, axis=0).max() > 0.1 * size and np.ptp(error, axis=1).max() > 0.1 * size
    if varies and np.abs(rest).max() <= 1e-4 * size:
        return "The error is a column plus a row: is a vector added along the other axis?"


def everywhere_the_first(d: Difference) -> str | None:
    if d.bad.ndim == 1 and d.bad.size > 1 and np.ptp(d.expected) > 0 and not d.bad[0]:
        if (np.abs(d.got - d.expected[0]) <= d.tolerance[0]).all():
            return "Every value is that of index 0: which address, or which number of a program, is the same for all?"


def once_for_each_lane(d: Difference) -> str | None:
    """A sum over a tile that every lane of the tile holds, or an `other` that a sum over it includes."""
    ratio, block = _ratio(d), d.sizes.get("BLOCK_SIZE")
    if not (block and ratio.size and d.bad.mean() > 0.9):
        return None
    if np.allclose(ratio, block, rtol=1e-3):
        return f"It is {block} times what it should be, BLOCK_SIZE times: does every lane hold the whole sum, and is it added up again?"
    shift, n = d.got - d.expected, d.sizes.get("N", d.sizes.get("n"))
    if n and n % block and np.isfinite(shift).all():
        off, each = -n % block, shift / (-n % block)
        if np.abs(each).min() > 1e-3 and np.allclose(each, each.flat[0], rtol=1e-2):
            return f"It is too large by {off} times {float(f'{each.flat[0]:.3g}'):g}: {off} lanes are masked off. What does `other` add for each?"


def constant_factor(d: Difference) -> str | None:
    ratio = _ratio(d)
    if d.bad.mean() > 0.9 and _is_constant(ratio) and abs(ratio[0] - 1) > 2e-3:
        if abs(ratio[0] + 1) < 1e-3:
            return "The sign is flipped."
        return f"Every value is {_number(np.median(ratio))} times what it should be: look for a missing or a second factor."


def rows_differ_by_a_factor(d: Difference) -> str | None:
    if d.expected.ndim < 2:
        return None
    factors = []
    for row in np.ndindex(d.expected.shape[:-1]):
        ratio = _ratio(Difference(d.got[row], d.expected[row], d.tolerance[row]))
        if not _is_constant(ratio):
            return None
        factors.append(ratio[0])
    if len(factors) > 1 and not _is_constant(np.array(factors)):
        if not d.exponential:
            return "Each row is off by a factor of its own: which number of the row is missing, or is there twice?"
        return "Each row is off by a factor of its own: what a row collected before its maximum grew must be rescaled."


def constant_shift(d: Difference) -> str | None:
    shift = d.got - d.expected
    if d.bad.mean() > 0.9 and np.isfinite(shift).all() and d.bad.size > 1 and _is_constant(shift):
        return f"Every value is too {'large' if shift.flat[0] > 0 else 'small'} by {_number(abs(shift.flat[0]))}."


def overflow(d: Difference) -> str | None:
    with_nan, with_inf = np.isnan(d.got[d.bad]), np.isposinf(d.got[d.bad])
    if with_inf.any() or (with_nan.any() and np.isfinite(d.expected).all() and not d.unwritten.any()):
        if not d.exponential:
            return "inf or nan: it comes from a division by 0, from a number too large to write down, or from an `other`."
        return f"inf or nan: an exponential overflowed, inf was divided by inf, or -inf was taken from -inf. {SUBTRACT}"


def few_digits(d: Difference) -> str | None:
    """Nearly right everywhere: something lost the last digits."""
    if not (np.isfinite(d.got).all() and d.bad.any()):
        return None
    wrong = d.expected != 0
    error = np.abs(d.got - d.expected)[wrong & d.bad] / np.abs(d.expected)[wrong & d.bad]
    if error.size and 0 < error.max() < 1e-3:
        digits = int(-np.log10(0.99 * error.max()))
        return f"That agrees to {digits} digits: numbers near 0 have few digits, and so has a difference of large ones. Where do they arise?"


def fp16_accumulator(d: Difference) -> str | None:
    if d.expected.size and np.array_equal(d.got, d.got.astype(np.float16)):
        size = np.abs(d.expected).max()
        error = np.abs(d.got - d.expected).max()
        if size and 5e-5 < error / size < 2e-2 and float(d.tolerance.max()) < error:
            return "The error is as large as fp16 rounding, many times over: accumulate in fp32 and round once, at the end."


PATTERNS: Sequence[Callable[[Difference], str | None]] = (
    nothing_written,
    tail_not_written,
    some_not_written,
    only_last_block_wrong,
    only_first_block_right,
    overflow,
    transposed,
    all_zero,
    not_clipped,
    along_the_other_axis,
    everywhere_the_first,
    once_for_each_lane,
    constant_factor,
    rows_differ_by_a_factor,
    constant_shift,
    fp16_accumulator,
    few_digits,
    shifted,
    rows_exchanged,
    permuted,
)


def likely_cause(difference: Difference) -> str:
    """The first pattern that fits, as a sentence; empty when none does."""
    with np.errstate(all="ignore"):
        return next((sentence for pattern in PATTERNS if (sentence := pattern(difference))), "")


def resembles(d: Difference, inputs: Mapping[str, object], others: Mapping[str, tuple]) -> str:
    """A sentence when a result is something else that is at hand: an input, or another result; empty when it is neither.

    inputs: arrays, and whatever else was given, by name. others: {name: (got, expected)} of the other results.
    """
    for name, value in inputs.items():
        if isinstance(value, np.ndarray) and value.shape == d.got.shape and value.size and np.array_equal(value, d.got):
            if transposed(d):
                return ""
            return f"Yours equals {name}."
    for name, (got, expected) in others.items():
        if np.shape(expected) == np.shape(got) == d.got.shape and not np.array_equal(expected, d.expected):
            if (np.abs(d.got - expected) <= d.tolerance).all() and (np.abs(got - d.expected) <= d.tolerance).all():
                return f"It has changed places with {name}."
    return ""


KINDS = {
    "large": "go into the thousands: is every exponential still a number?",
    "large negatives": "all lie near -200: what does the largest of them start from, and is any exponential left above 0?",
    "all negative": "are all negative: with which number does the largest of them have to compete?",
    "some -inf": "include -inf: where does -inf - (-inf) appear?",
    "-inf first": "begin with -inf: where does -inf - (-inf) appear, and what is the largest value until then?",
    "-inf last": "end with -inf: where does -inf - (-inf) appear, and what may a block of nothing but -inf still change?",
    "equal": "are all equal: what becomes of a block whose largest value is no larger than the one so far, and no smaller?",
    "far below 0": "all lie below -1e30: with which number does the largest of them have to compete?",
    "all -inf": "are all -inf: where does -inf - (-inf) appear, and what should come out?",
    "one huge": "hold one of 10,000: is its exponential still a number, and what becomes of what was added up before it?",
    "rising": "rise from block to block: what becomes of what was added up under a smaller maximum?",
    "rows apart": "lie 400 apart from row to row: does each row keep a maximum of its own?",
    "rows crossing": "fall far in half of the rows and rise in the others: does a smaller maximum ever replace a larger one?",
    "falling": "fall from block to block: does the largest of a later block replace a larger one?",
}


WITHOUT_EXPONENTIALS = {
    "large": "go into the thousands: does anything grow too large to write down?",
    "large negatives": "all lie near -200: with which number do they have to compete?",
    "some -inf": "include -inf: which numbers does it meet?",
    "-inf first": "begin with -inf: which numbers does it meet?",
    "-inf last": "end with -inf: which numbers does it meet?",
    "all -inf": "are all -inf: with which number do they have to compete?",
    "one huge": "hold one of 10,000: do the small ones beside it still count?",
}


def apart_by_values(case: Case, passed: Sequence[Case], exponential: bool = True) -> str:
    """What the values of a wrong case have that those of right cases of the same sizes do not have; else empty.

    exponential: whether an exponential or a logarithm is near.
    """
    same_sizes = [p for p in passed if p.sizes == case.sizes]
    if case.strided and any(not p.strided and p.kind == case.kind for p in same_sizes):
        return "Without gaps, tensors of these sizes are right: which address leaves out its stride?"
    if case.kind in KINDS and any(p.kind == "normal" for p in same_sizes):
        words = KINDS[case.kind] if exponential else WITHOUT_EXPONENTIALS.get(case.kind, KINDS[case.kind])
        return f"Other values of these sizes are right. These {words}"
    return ""


def apart_by_sizes(case: Case, passed: Sequence[Case]) -> str:
    """What the sizes of a wrong case have that those of right cases of its kind do not have; else empty."""
    n, block = case.sizes.get("n"), _block(case.sizes)
    before = [(p.sizes["n"], _block(p.sizes)) for p in passed if p.kind == case.kind and "n" in p.sizes and _block(p.sizes)]
    if not (n and block and before):
        return _apart_along_a_side(case, passed)
    if n > block and all(n <= block for n, block in before):
        return "A row of one block is right, a row of several is not: what must be carried over from block to block, and how?"
    if n % block and any(n > block and n % block == 0 for n, block in before):
        return "It is right where block_size divides n: look at the last block, the shorter one."
    return ""


SIDES = {"M": "block_m", "N": "block_n", "K": "block_k", "n_q": "block_q", "n_k": "block_k"}


def _apart_along_a_side(case: Case, passed: Sequence[Case]) -> str:
    """What sets the sides and blocks of a wrong matrix product, or attention, apart from those of the right ones; else empty."""
    sides = {side: block for side, block in SIDES.items() if side in case.sizes and block in case.sizes}
    before = [p.sizes for p in passed if all(name in p.sizes for name in [*sides, *sides.values()])]
    if not before:
        return ""
    for side, block in sides.items():
        if case.sizes[side] > case.sizes[block] and all(sizes[side] <= sizes[block] for sizes in before):
            return f"It is right with a single block along {side}, and wrong with several: what is left of the first one by then?"
    for side, block in sides.items():
        if case.sizes[side] % case.sizes[block] and all(sizes[side] % sizes[block] == 0 for sizes in before):
            return f"It is right where {block} divides {side}: look at the last block along {side}, the shorter one."
    return ""


def in_terms_of_sizes(d: Difference) -> str:
    """For a single number: the product of sizes by which it is wrong, as a factor or as a difference; empty when none fits."""
    if d.bad.ndim or not np.isfinite(d.got) or not np.isfinite(d.expected) or d.got == 0 or d.expected == 0:
        return ""
    got, expected = float(d.got), float(d.expected)
    products = _products({name: float(size) for name, size in d.sizes.items() if isinstance(size, (int, float)) and size > 1})
    if got == -expected:
        return "The sign is flipped."
    for text, value in products:
        if _near(got, expected * value):
            return f"It is {text} times as large as it should be."
        if _near(got * value, expected):
            return f"It should be {text} times as large."
    for text, value in products:
        if _near(got - expected, value):
            return f"It is too large by {text}."
        if _near(expected - got, value):
            return f"It is too small by {text}."
    return "It is upside down: 1 / yours would be right." if _near(got * expected, 1.0) else ""


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-9 * abs(b)


def _products(sizes: Mapping[str, float]) -> list[tuple[str, float]]:
    """2, 3 and 4, and products of up to three sizes, with 2 in front or not; the shorter ones first."""
    found = [("2", 2.0), ("3", 3.0), ("4", 4.0)]
    for count in (1, 2, 3):
        for names in combinations_with_replacement(sizes, count):
            value = float(np.prod([sizes[name] for name in names]))
            found += [(" · ".join(names), value), (" · ".join(("2", *names)), 2 * value)]
    return sorted(found, key=lambda item: item[0].count("·"))


def apart_by_tiles(case: Case, passed: Sequence[Case], constants: Mapping[str, int]) -> str:
    """Whether only cases that need a second tile along some size are wrong; else empty."""
    for block in {value for name, value in constants.items() if name.startswith("BLOCK")}:
        for name, size in case.sizes.items():
            before = [p.sizes.get(name, size) for p in passed]
            if before and max(before) == block < size:
                return f"It is right up to {name} = {block}, a single tile: what must the second tile do otherwise?"
    return ""


WARNINGS = {
    "overflow encountered in exp": "An exponential is too large to write down: what must be subtracted before it is taken?",
    "overflow": "A number is too large to write down.",
    "invalid value encountered in log": "This is the logarithm of a number below 0.",
    "divide by zero encountered in log": "This is the logarithm of 0: did every exponential vanish?",
    "divide by zero": "A number is divided by 0: did every exponential vanish?",
    "subtract": "inf was subtracted from inf, or -inf from -inf: which values are not finite yet?",
    "divide": "This is 0 / 0 or inf / inf: did every exponential vanish, or one overflow?",
    "multiply": "This is 0 times inf: which factor overflowed?",
}


def meaning_of_warning(message: str) -> str:
    """What a NumPy warning says about the values, as a sentence; empty for one that is not known."""
    return next((meaning for words, meaning in WARNINGS.items() if words in message), "")
