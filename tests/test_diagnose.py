"""Each pattern of error is told from the others, on results made wrong in the way that it names."""

import numpy as np
import pytest

from tiles.cases import Case, rows
from tiles.diagnose import (
    Difference,
    amount,
    apart_by_sizes,
    apart_by_values,
    in_terms_of_sizes,
    likely_cause,
    meaning_of_warning,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal(1000)
ROWS = RNG.standard_normal((8, 100))
TOLERANCE = 1e-6


def changed(values, index, new):
    result = values.copy()
    result[index] = new
    return result


def left_out(values, index):
    mask = np.zeros(values.shape, bool)
    mask[index] = True
    return dict(got=np.where(mask, np.nan, values), unwritten=mask)


BLOCKS = {"BLOCK_SIZE": 128}
BATCH = RNG.standard_normal((3, 4, 5))
SQUARE = RNG.standard_normal((16, 16))
HALF_SUM = np.cumsum(np.full(100, 0.1, np.float16), dtype=np.float16).astype(float)


@pytest.mark.parametrize(
    "expected, wrong, words",
    [
        (X, left_out(X, slice(None)), "Nothing was written"),
        (X, left_out(X, slice(896, None)), "The last 104 were never written: that is one program too few"),
        (X, left_out(X, slice(500, None)), "The last 500 were never written: do the grid and the mask reach to the end?"),
        (X, left_out(X, slice(None, None, 3)), "334 elements were never written"),
        (X, dict(got=changed(X, 999, np.nan)), "Only the last program (7) is wrong: look at the mask."),
        (X, dict(got=changed(X, slice(128, None), 0.5)), "Only the first 128 are right"),
        (X, left_out(X, slice(999, None)), "The last one was never written: do the grid"),
        (np.maximum(X, 0), dict(got=X), "Where 0 is expected, yours is negative."),
        (SQUARE + SQUARE[0], dict(got=SQUARE + SQUARE[:1].T), "is a vector added along the other axis?"),
        (X, dict(got=X * 1.5), "Every value is 1.5 times what it should be"),
        (X, dict(got=-X), "The sign is flipped."),
        (X, dict(got=X + 0.25), "Every value is too large by 0.25."),
        (X, dict(got=X - 0.25), "Every value is too small by 0.25."),
        (X, dict(got=np.roll(X, 1)), "one place too late"),
        (X, dict(got=np.roll(X, -1)), "one place too early"),
        (X, dict(got=X[::-1]), "in another order"),
        (X, dict(got=X * 0), "The wrong values are all 0."),
        (X, dict(got=changed(X, slice(0, 300), np.inf)), "an exponential overflowed"),
        (X, dict(got=changed(X, slice(0, 300), np.nan)), "an exponential overflowed"),
        (SQUARE, dict(got=SQUARE.T), "transposed"),
        (ROWS, dict(got=ROWS[::-1]), "The rows are right but exchanged: number 0 holds number 7."),
        (BATCH, dict(got=BATCH[[1, 0, 2]]), "The matrices of the batch are right but exchanged: number 0 holds number 1."),
        (ROWS, dict(got=ROWS * np.arange(2, 10)[:, None]), "Each row is off by a factor of its own"),
        (np.arange(1, 101) * 0.1, dict(got=HALF_SUM), "accumulate in fp32"),
        (X, dict(got=X + RNG.standard_normal(1000)), ""),
    ],
)
def test_likely_cause(expected, wrong, words):
    said = likely_cause(Difference(wrong["got"], expected, TOLERANCE, wrong.get("unwritten"), BLOCKS))
    assert (words in said) if words else said == ""


SUMS = np.array([3.0, -1.0, 2.0, 5.0, 4.0])


@pytest.mark.parametrize(
    "got, expected, sizes, kind, words",
    [
        (128 * SUMS, SUMS, BLOCKS, "", "It is 128 times what it should be, BLOCK_SIZE times: does every lane hold the whole sum"),
        (SUMS + 127, SUMS, BLOCKS | {"N": 1}, "", "too large by 127 times 1: 127 lanes are masked off. What does `other` add"),
        (SUMS - 6, SUMS, BLOCKS | {"N": 125}, "", "too large by 3 times -2: 3 lanes are masked off"),
        ([7.0], [3.0], BLOCKS | {"N": 128}, "", ""),
        (SUMS[:1].repeat(5), SUMS, BLOCKS, "", "Every value is that of index 0"),
        (np.maximum(SUMS, 0), SUMS, BLOCKS, "all negative", "does a maximum start from 0?"),
        (SUMS * 0, -np.abs(SUMS), BLOCKS, "normal", "does a maximum start from 0?"),
        (changed(SUMS, 1, 0.0), SUMS, BLOCKS, "normal", ""),
        (SUMS * (1 + 1e-5), SUMS, BLOCKS, "", "That agrees to 5 digits"),
        (SUMS * 0 + np.inf, SUMS, BLOCKS, "", "inf or nan"),
    ],
)
def test_likely_cause_of_sums(got, expected, sizes, kind, words):
    said = likely_cause(Difference(got, expected, TOLERANCE, sizes=sizes, kind=kind))
    assert (words in said) if words else said == ""


def test_digits_until_they_differ():
    assert Difference(0.1498409, 0.1498414, 1e-9).describe() == "The result is 0.1498409, expected 0.1498414."
    assert Difference([7.0], [8.0], 0.1).describe("out") == "The only value of out is wrong: yours 7, expected 8."


@pytest.mark.parametrize("value, text", [(12, "12"), (4 / 3, "1.33"), (4100.4, "4,100"), (99.96, "100")])
def test_amounts(value, text):
    assert amount(value) == text


def test_a_right_result_has_no_difference():
    assert not Difference(X + 1e-7, X, TOLERANCE).bad.any()
    assert not Difference([np.inf, -np.inf], [np.inf, -np.inf], TOLERANCE).bad.any()


def test_nan_and_the_wrong_infinity_are_bad():
    assert Difference([np.nan, np.inf, 1.0], [1.0, -np.inf, np.inf], TOLERANCE).bad.all()


@pytest.mark.parametrize(
    "difference, words",
    [
        (
            Difference(changed(X, 5, 9.0), X, TOLERANCE),
            f"1 of 1000 values differ; first at index 5: yours 9, expected {X[5]:.6g}.",
        ),
        (Difference(changed(ROWS, (2, 3), 9.0), ROWS, TOLERANCE), "first at index (2, 3): yours 9"),
        (Difference(2.0, 3.0, TOLERANCE), "The result is 2, expected 3."),
        (Difference(**left_out(X, 7), expected=X, tolerance=TOLERANCE), "first at index 7: never written, expected"),
    ],
)
def test_describe(difference, words):
    assert words in difference.describe()


IN_BLOCKS = {"block_size": 128}  # as in a NumPy lesson, without programs


@pytest.mark.parametrize(
    "expected, wrong, words",
    [
        (X, left_out(X, slice(None)), "does the loop go through one block at least"),
        (X, left_out(X, slice(896, None)), "that is one block too few"),
        (X, changed(X, 999, 9.0), "Only the last block (7), a shorter one, is wrong"),
        (-3.0, 0.0, "does a maximum start from 0?"),
        (3.0, 0.0, ""),
        (1.0, 1.008, ""),  # as far off as fp16 rounding, but no fp16 number
        (1.0, 1.0009765625, "accumulate in fp32"),
        (X, X * (1 + 1e-4 * RNG.standard_normal(1000)), "agrees to 3 digits"),  # not "in another order"
    ],
)
def test_likely_cause_without_programs(expected, wrong, words):
    wrong = wrong if isinstance(wrong, dict) else {"got": wrong}
    said = likely_cause(Difference(wrong["got"], expected, TOLERANCE, wrong.get("unwritten"), IN_BLOCKS))
    assert (words in said) if words else said == ""


@pytest.mark.parametrize("moved, words", [(X[::-1], "in another order"), (np.roll(X, 1), "one place too late")])
def test_an_order_is_judged_by_the_tolerance_of_each_value(moved, words):
    tolerance = np.where(np.arange(1000) == 7, 10.0, TOLERANCE)  # that of one value is no measure for the others
    for got, fits in ((moved, True), (moved + 0.3 * RNG.standard_normal(1000), False)):
        assert (words in likely_cause(Difference(got, X, tolerance))) == fits


CASES = rows(3, 8, 7, block_size=[4, 4, 4], kinds=["normal", "large negatives", "rising"])  # one block, two, a ragged one


@pytest.mark.parametrize(
    "wrong, passed, words",
    [
        (3, 3, "Other values of these sizes are right. These all lie near -200"),
        (6, 6, "Other values of these sizes are right. These rise from block to block"),
        (0, 0, ""),
    ],
)
def test_what_values_set_a_wrong_case_apart(wrong, passed, words):
    said = apart_by_values(CASES[wrong], CASES[:passed])
    assert (words in said) if words else said == ""


@pytest.mark.parametrize(
    "wrong, words",
    [(0, ""), (1, "A row of one block is right, a row of several is not"), (2, "where block_size divides n"), (3, "")],
)
def test_what_sizes_set_a_wrong_case_apart(wrong, words):
    said = apart_by_sizes(CASES[wrong], CASES[:wrong])
    assert (words in said) if words else said == ""


def product(*sizes):
    return Case("", (), sizes=dict(zip("M N K block_m block_n block_k".split(), sizes)))


@pytest.mark.parametrize(
    "passed, wrong, words",
    [
        ([], (4, 4, 4, 4, 4, 4), ""),
        ([(4, 4, 4, 4, 4, 4)], (4, 4, 8, 4, 4, 4), "right with a single block along K"),
        ([(4, 4, 8, 4, 4, 4)], (4, 8, 8, 4, 4, 4), "right with a single block along N"),
        ([(8, 8, 8, 4, 4, 4)], (8, 8, 10, 4, 4, 4), "where block_k divides K"),
        ([(8, 8, 8, 4, 4, 4), (8, 8, 10, 4, 4, 4)], (8, 8, 12, 4, 4, 4), ""),
    ],
)
def test_what_sides_set_a_wrong_product_apart(passed, wrong, words):
    said = apart_by_sizes(product(*wrong), [product(*sizes) for sizes in passed])
    assert (words in said) if words else said == ""


@pytest.mark.parametrize(
    "got, expected, words",
    [
        (35, 70, "It should be 2 times as large."),
        (70, 10, "It is M times as large as it should be."),
        (10, 770, "It should be M · K times as large."),
        (100, 78, "It is too large by 2 · K."),
        (100, 177, "It is too small by M · K."),
        (-3, 3, "The sign is flipped."),
        (0.2, 5, "It is upside down: 1 / yours would be right."),
        (100, 101.7, ""),
        (0, 7, ""),
        (np.nan, 7, ""),
    ],
)
def test_a_number_in_terms_of_sizes(got, expected, words):
    assert in_terms_of_sizes(Difference(got, expected, 1e-9, sizes={"M": 7, "K": 11})) == words


def test_an_array_is_not_put_in_terms_of_sizes():
    assert in_terms_of_sizes(Difference(2 * X, X, TOLERANCE, sizes={"M": 2})) == ""


@pytest.mark.parametrize(
    "warning, words",
    [
        ("overflow encountered in exp", "what must be subtracted"),
        ("invalid value encountered in scalar subtract", "-inf from -inf"),
        ("invalid value encountered in divide", "0 / 0"),
        ("divide by zero encountered in log", "the logarithm of 0"),
        ("something else", ""),
    ],
)
def test_meaning_of_a_warning(warning, words):
    said = meaning_of_warning(warning)
    assert (words in said) if words else said == ""


NEW_KINDS = {
    "equal": "These are all equal: what becomes of a block whose largest value is no larger than the one so far, and no smaller?",
    "-inf last": "These end with -inf: where does -inf - (-inf) appear, and what may a block of nothing but -inf still change?",
    "far below 0": "These all lie below -1e30: with which number does the largest of them have to compete?",
}


@pytest.mark.parametrize("kind", NEW_KINDS)
def test_what_sets_ties_masked_ends_and_huge_negatives_apart(kind):
    normal, special = rows(8, block_size=4, kinds=("normal", kind))
    assert apart_by_values(special, [normal]) == f"Other values of these sizes are right. {NEW_KINDS[kind]}"


def test_values_of_the_new_kinds():
    equal, last, below = (rows(6, kinds=(kind,))[0].inputs[0] for kind in ("equal", "-inf last", "far below 0"))
    assert np.ptp(equal) == 0 and np.isfinite(equal).all()
    assert np.isfinite(last[:2]).all() and np.isneginf(last[2:]).all()
    assert (below <= -1e30).all() and np.isfinite(below).all()
    assert np.isfinite(rows(6, kinds=("far below 0",), dtype="float16")[0].inputs[0]).all()
    assert np.isfinite(rows(1, kinds=("-inf last",))[0].inputs[0]).all()


def test_where_nothing_exponential_is_near():
    normal, special = rows(8, block_size=4, kinds=("normal", "all -inf"))
    assert "with which number do they have to compete?" in apart_by_values(special, [normal], exponential=False)
    got, expected = np.full(4, np.inf), np.ones(4)
    assert "exponential overflowed" in likely_cause(Difference(got, expected, 1e-6))
    said = likely_cause(Difference(got, expected, 1e-6, exponential=False))
    assert said == "inf or nan: it comes from a division by 0, from a number too large to write down, or from an `other`."
