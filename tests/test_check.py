"""check, choice, fingerprint: what they accept, what they say."""

import copy
import hashlib
import json
import linecache
import sys

import numpy as np
import pytest

from tiles import Case, LoadCounter, NotYet, check, choice, fingerprint, question, rows
from tiles.blanks import BlankLeft
from tiles.mistakes import RAISED


def spec(x):
    return 1 / np.exp(x[None, :] - x[:, None]).sum(axis=1)


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def magnitude(x):
    return spec(x) * (1 + np.abs(x - x.max()))


CASES = rows(1, 7, 128, 130, kinds=("normal", "large negatives", "large"))


def verdict(answer, **options) -> str:
    given = dict(against=spec, cases=CASES, steps=lambda n: n, magnitude=magnitude) | options
    with pytest.raises(NotYet) as wrong:
        check("5.1", answer, **given)
    return str(wrong.value)


def test_right(capsys):
    check("5.1", softmax, against=spec, cases=CASES, steps=lambda n: n, magnitude=magnitude)
    assert capsys.readouterr().out == "Exercise 5.1 passed: 12 cases.\n"


def test_a_scale_that_is_off_by_half_a_percent_is_refused():
    scores = rows(64, 200, kinds=("normal",))
    said = verdict(lambda x: softmax(x * np.float32(8 / 8.05)), cases=scores)
    assert "values differ" in said


@pytest.mark.parametrize(
    "answer, words",
    [
        (lambda x: None, "returns nothing"),
        (lambda x: spec(x).astype(np.float32), "calls spec, the specification"),
        (lambda x: softmax(x)[:-1], "has shape (0,), expected (1,)"),
        (lambda x: softmax(x.astype(np.float64)), "is float64, expected float32"),
        (lambda x: np.exp(x) / np.exp(x).sum(), "NumPy warns in line"),
        (lambda x: 2 * softmax(x), "yours 2, expected 1"),
        (lambda x: (softmax(x), 1), "returns 2 values, expected its result"),
        (lambda x: x[1000], "IndexError: index 1000 is out of bounds"),
        (lambda x: softmax(x) * (np.arange(x.size) != 128), "first at index 128: yours 0, expected"),
    ],
)
def test_wrong(answer, words):
    said = verdict(answer)
    assert said.startswith("Exercise 5.1 is not right yet: n = ") and words in said


def test_nan_is_never_right():
    def answer(x):
        result = softmax(x)
        result[-1] = np.nan
        return result

    assert "yours nan, expected 1" in verdict(answer)


def test_an_input_that_changes():
    def answer(x):
        result = softmax(x)
        x -= 1
        return result

    assert "changed its input x" in verdict(answer)


def test_blanks_come_first():
    def answer(x):
        m = ______  # the largest
        return np.exp(x - m)

    with pytest.raises(BlankLeft) as left:
        check("5.1", answer, against=spec, cases=CASES)
    assert "Exercise 5.1 still has 1 blank: line " in str(left.value) and "`m = ______`" in str(left.value)


def test_the_specification_is_back_afterwards():
    verdict(lambda x: spec(x))
    assert spec(np.zeros(2)).tolist() == [0.5, 0.5]


def test_the_passes_are_counted(capsys):
    def blocks(x, block_size):
        return sum(x[i : i + block_size].sum() for i in range(0, len(x), block_size))

    def twice(x, block_size):
        return np.max(x) * 0 + blocks(x, block_size)

    cases = rows(1, 12, 13, block_size=4)
    given = dict(
        against=lambda x, block_size: x.sum(), cases=cases, moves=lambda n, block_size: n, magnitude=lambda x, b: abs(x).sum()
    )
    check("5.2", blocks, **given)
    assert capsys.readouterr().out == "Exercise 5.2 passed: 3 sizes; 1 element moved for each of the input.\n"
    with pytest.raises(NotYet, match=r"2 elements are read and written \(2 for each of the input, not 1\), and 1 would do"):
        check("5.2", twice, **given)


def test_an_output_that_is_not_filled():
    def answer(x, block_size, out):
        out[: (len(x) // block_size) * block_size] = x[: (len(x) // block_size) * block_size]

    with pytest.raises(NotYet, match="The last one was never written: that is one block too few"):
        check("5.2", answer, against=lambda x, block_size: x, cases=rows(8, 9, block_size=4, out=True))


def test_memory_is_measured():
    given = dict(against=lambda x, block_size: x.sum(), cases=rows(100_000, block_size=100), magnitude=lambda x, b: abs(x).sum())
    given |= dict(steps=100_000, memory=lambda n, block_size: 20_000)
    check("5.3", lambda x, b: np.float32(sum(x[i : i + b].astype(float).sum() for i in range(0, len(x), b))), **given)
    with pytest.raises(NotYet, match="B of its own at once, where 20,000 B suffice"):
        check("5.3", lambda x, b: (x * 1).sum(), **given)


def test_several_results_are_told_apart():
    case = [Case("a pair", (np.array([1.0, 2.0]),))]
    spec_pair = lambda x: (x.max(), x.sum())  # noqa: E731
    with pytest.raises(NotYet, match=r"l is 2, expected 3. \(m is right.\)"):
        check("99.3", lambda x: (2.0, 2.0), against=spec_pair, cases=case, returns=("m", "l"))
    with pytest.raises(NotYet, match=r"returns 1 value, expected \(m, l\)"):
        check("99.3", lambda x: 2.0, against=spec_pair, cases=case, returns=("m", "l"))


def test_an_undefined_case_is_the_authors_fault():
    with pytest.raises(ValueError, match="gives nan for n = 3, all -inf"):
        check("5.1", lambda x: x, against=lambda x: x - x, cases=rows(3, kinds=("all -inf",)))


@pytest.fixture
def sealed_question(tmp_path, monkeypatch):
    sealed = question.seal("b") | {"why": {"a": "no, since x", "b": "yes, since y"}}
    (tmp_path / "05_x.json").write_text(json.dumps({"5.c1": sealed}))
    monkeypatch.setattr(question, "QUESTIONS", tmp_path)


def test_choice(sealed_question, capsys):
    choice("5.c1", "b")
    assert capsys.readouterr().out == "Exercise 5.c1 passed: yes, since y\n"
    with pytest.raises(NotYet, match="not right yet.\n  no, since x"):
        choice("5.c1", "a")
    with pytest.raises(NotYet, match="one of the letters a, b; yours is 'c'"):
        choice("5.c1", "c")
    with pytest.raises(LookupError, match="no question 5.c9"):
        choice("5.c9", "a")


@pytest.mark.parametrize("letter", ["B", " b", "b)", "(b)", "B) "])
def test_letters_as_people_write_them(sealed_question, capsys, letter):
    choice("5.c1", letter)
    assert capsys.readouterr().out == "Exercise 5.c1 passed: yes, since y\n"


def test_an_input_that_is_handed_back():
    said = verdict(lambda x: x * 1, against=lambda x: 2 * x, cases=rows(3), magnitude=None)
    assert said.endswith("There x = [0.12573, -0.132105, 0.640423].\n  Yours equals x.")


def test_results_that_changed_places():
    pair = dict(against=lambda x: (x.max(), x.sum()), cases=rows(3), magnitude=None, returns=("m", "l"))
    assert verdict(lambda x: (x.sum(), x.max()), **pair).endswith("It has changed places with l.")


def test_an_array_in_the_place_of_a_number():
    pair = dict(against=lambda x: (x.max(), x.sum()), cases=rows(3), magnitude=None, returns=("m", "l"))
    said = verdict(lambda x: (x.max(), x), **pair)
    assert "l has shape (3,), expected one number: is a sum, or a maximum, missing?" in said


def test_the_variables_at_a_warning():
    def answer(x):
        largest, other = np.float32(-np.inf), np.float32(1.5)
        return x * (largest - largest) * other

    said = verdict(answer)
    assert (
        "`return x * (largest - largest) * other`: invalid value encountered in scalar subtract (largest = -inf, other = 1.5)."
        in said
    )


def test_an_ampersand_that_binds_first():
    def answer(x):
        mask = x < 9
        return np.where(mask & (x > 0) > 0, 0 * x, x)

    assert "`&` binds before the comparison" in verdict(answer, against=lambda x: x, cases=rows(5), magnitude=None)


def test_the_seal_is_salted():
    one, two = question.seal("b"), question.seal("b")
    assert one["digest"] != two["digest"]
    assert one["digest"] == hashlib.sha256((one["salt"] + "b").encode()).hexdigest()


def test_fingerprint_of_whole_numbers_sees_every_element():
    x = np.arange(1000) % 17
    seen = {fingerprint(x)}
    for i in range(0, 1000, 37):
        y = x.copy()
        y[i] += 1
        seen.add(fingerprint(y))
    assert len(seen) == 29
    assert fingerprint(x) != fingerprint(x[::-1]) and fingerprint(np.zeros(3)) != fingerprint(np.zeros(4))


def test_fingerprint_does_not_see_rounding():
    x = np.random.default_rng(1).standard_normal(500)
    assert fingerprint(x) == fingerprint(x.astype(np.float32)) == fingerprint(x + 1e-7)
    assert fingerprint(x) != fingerprint(x * 1.05) and fingerprint(x) != fingerprint(-x)


def test_fingerprint_counts_what_is_not_finite():
    assert fingerprint(np.array([np.nan, 1, np.inf, -np.inf, -np.inf])) == "5 1 nan 1 inf 2 -inf 1 2"
    assert fingerprint((3.0, [4.0])) == "scalar 3 3 | scalar 4 4"


def test_fingerprint_refuses_a_rounding_boundary_for_its_author(monkeypatch):
    value = np.float64(10**0.2345000001)
    fingerprint(value)
    monkeypatch.setenv("TILES_AUTHOR", "1")
    with pytest.raises(ValueError, match="rounding boundary"):
        fingerprint(value)


def test_the_line_says_the_budget_and_the_author_is_told_when_it_is_not_the_least(capsys, monkeypatch):
    given = dict(against=lambda x, block_size: x[0], cases=rows(8, block_size=4), moves=lambda n, block_size: n)
    check("5.2", lambda x, block_size: x[0], **given)
    assert capsys.readouterr().out == "Exercise 5.2 passed: 1 size; 1 element moved for each of the input.\n"
    monkeypatch.setenv("TILES_AUTHOR", "1")
    with pytest.raises(ValueError, match="n = 8, block_size = 4: the solution moves 1, less than the budget of 8"):
        check("5.2", lambda x, block_size: x[0], **given)
    check("5.2", lambda x, block_size: x[0], **given, note="one look")
    assert capsys.readouterr().out == "Exercise 5.2 passed: 1 size; one look.\n"


def test_a_budget_of_several_inputs_is_told_by_input():
    x, y = np.ones(3), np.ones(4)

    def twice(a, b):
        return a[:].sum() + a[:].sum() + b[:].sum() - 3

    with pytest.raises(NotYet, match=r"10 elements are read and written \(6 of a, 4 of b\), and 7 would do\. Load"):
        check("99.1", twice, against=lambda a, b: a.sum() + b.sum(), cases=[Case("", (x, y))], moves=lambda: 7)


def sums(function, sizes=(8, 12), **options):
    """A check of the sum of a row, whose blocks are to be read once."""
    given = dict(against=lambda x, block_size: x.sum(), cases=rows(*sizes, block_size=4), moves=lambda n, block_size: n)
    check("5.2", function, **given | dict(magnitude=lambda x, b: abs(x).sum(), steps=lambda n, block_size: n) | options)


def sum_of_blocks(x, block_size):
    return sum(x[i : i + block_size].sum() for i in range(0, len(x), block_size))


def test_budgets_are_judged_once_all_values_are_right():
    def reads_twice_and_is_wrong_from_12_on(x, block_size):
        return np.max(x) * 0 + sum_of_blocks(x, block_size) + (len(x) == 12)

    with pytest.raises(NotYet, match="n = 12, block_size = 4.\n  The result is"):
        sums(reads_twice_and_is_wrong_from_12_on)
    with pytest.raises(NotYet, match="n = 8, block_size = 4.\n  The values are right, but 16 elements are read"):
        sums(lambda x, block_size: np.max(x) * 0 + sum_of_blocks(x, block_size))


def test_a_row_is_loaded_block_by_block(capsys):
    words = r"8 elements of x are loaded at once, and fast memory has room for a block of 4\. Load x block by block"
    for whole in (lambda x, block_size: x[:].sum(), lambda x, block_size: copy.deepcopy(x).sum(), lambda x, b: np.sum(x)):
        with pytest.raises(NotYet, match=words):
            sums(whole)
    sums(lambda x, block_size: np.float32(sum(float(value) for value in x)))
    assert "passed" in capsys.readouterr().out


def test_a_result_that_is_computed_after_the_call():
    class Later:
        def __init__(self, x):
            self.x = x

        def __array__(self, dtype=None, copy=None):
            return spec(self.x.astype(float)).astype(np.float32)

    assert "calls spec, the specification" in verdict(Later)
    assert "calls spec, the specification" in verdict(lambda x: [Later(x)])


BIG = dict(cases=rows(8, 4000, block_size=4), memory=lambda n, block_size: 6000)


def test_what_an_answer_imports_is_not_its_memory(capsys):
    def imports(x, block_size):
        import colorsys  # noqa: F401
        import mailbox  # noqa: F401

        return sum_of_blocks(x, block_size)

    for sizes in ((4000,), (8, 4000)):
        for name in ("colorsys", "mailbox"):
            sys.modules.pop(name, None)
        sums(imports, **BIG | dict(cases=rows(*sizes, block_size=4)))
    assert capsys.readouterr().out.count("passed") == 2


def test_memory_is_measured_the_first_time_the_largest_case_is_tried():
    kept = {}

    def keeps(x, block_size):
        row = kept.setdefault(len(x), np.empty(len(x), np.float32))
        for i in range(0, len(x), block_size):
            row[i : i + block_size] = x[i : i + block_size]
        return row.sum()

    with pytest.raises(
        NotYet, match=r"holds 1[67],\d{3} B of its own at once, where 6,000 B suffice, and all of x is 16,000 B\."
    ):
        sums(keeps, **BIG)


def without_what_was_before_the_last_block(x, block_size):
    return x[(len(x) - 1) // block_size * block_size :].sum()


def test_sizes_are_blamed_once_ordinary_values_agree():
    """Rows whose first block counts for nothing are right by chance."""
    first_block_is_0 = Case("rising", (np.float32([0, 0, 0, 0, 1, 2, 3, 4]), 4), sizes={"n": 8, "block_size": 4}, kind="rising")
    shorter = Case("rising", (np.float32([0, 0, 1, 1, 1, 2, 3]), 4), sizes={"n": 7, "block_size": 4}, kind="rising")
    cases = [first_block_is_0, shorter]
    blamed = "It is right where block_size divides n"
    given = dict(moves=None, returns=("l",))
    with pytest.raises(NotYet, match=blamed):
        sums(without_what_was_before_the_last_block, cases=cases, **given)
    with pytest.raises(NotYet) as wrong:
        sums(without_what_was_before_the_last_block, cases=cases + rows(8, block_size=4), **given)
    assert blamed not in str(wrong.value)
    with pytest.raises(NotYet, match=blamed):  # ordinary rows of whole blocks are right
        sums(lambda x, b: sum_of_blocks(x, b) - (len(x) % b and x[-1]), cases=cases + rows(8, block_size=4), **given)


def test_what_is_read_beside_the_counter_is_refused():
    """Blocks of matrices are read through the LoadCounter that the answer is given."""
    cases = [Case("a small one", (np.ones((4, 4)), LoadCounter()), sizes={"n": 4})]
    common = dict(against=lambda a, counter: a[:2], cases=cases, moves=lambda n: 8)
    check("99.1", lambda a, counter: counter.load(a, slice(0, 2), slice(None)), **common)
    with pytest.raises(NotYet, match="The values are right, but 8 of 8 elements are read without the counter"):
        check("99.1", lambda a, counter: a[:2], **common)


@pytest.mark.parametrize(
    ("result", "expected", "words"),
    [
        (3.0, 3, "The values are right, but the result is 3.0, a float, expected 3, a whole number"),
        (2.5, 3, "The result is 2.5, expected 3."),
        ([3, 1], 3, r"The result holds 2 values, \[3, 1\], expected one number"),
        ("three", 3, "The result is 'three', expected a number."),
        ("memory", True, "The result is 'memory', expected True or False."),
        (False, True, "The result is False, expected True."),
    ],
)
def test_a_single_result_of_another_kind(result, expected, words):
    with pytest.raises(NotYet, match=words):
        check("99.1", lambda x: result, against=lambda x: expected, cases=[Case("one", (1,))])


def test_a_float_is_told_last():
    """A rounding that is forgotten shows in another case, and is the better thing to say."""
    cases = [Case("n = 4", (4,)), Case("n = 5", (5,))]
    with pytest.raises(NotYet, match="n = 5.\n  The result is 2.5, expected 3."):
        check("99.1", lambda n: n / 2, against=lambda n: -(-n // 2), cases=cases)
    with pytest.raises(NotYet, match="n = 4.\n  The values are right, but the result is 2.0, a float, expected 2"):
        check("99.1", lambda n: np.ceil(n / 2), against=lambda n: -(-n // 2), cases=cases)


def helper_of_the_lesson(numbers):
    return numbers[None, "no index"]


def test_an_exception_in_a_helper_is_told_at_the_line_that_calls_it(monkeypatch):
    source = "# Exercise 99.1\ndef answer(x):\n    return helper_of_the_lesson(x)\n"
    monkeypatch.setitem(linecache.cache, "/a_cell.py", (len(source), None, source.splitlines(True), "/a_cell.py"))
    monkeypatch.setitem(RAISED, "99.1", {"A list has one dimension.": "TypeError: list indices"})
    space = {"helper_of_the_lesson": helper_of_the_lesson, "__name__": __name__}
    exec(compile(source, "/a_cell.py", "exec"), space)
    words = r"Line 3, `return helper_of_the_lesson\(x\)`, raises TypeError, in `helper_of_the_lesson`: list .*\n  A list has one"
    with pytest.raises(NotYet, match=words):
        check("99.1", space["answer"], against=lambda x: 1, cases=[Case("one", ([1, 2],))])


def test_precedence_in_a_function_that_the_answer_calls():
    def answer(x):
        return inside(x)

    with pytest.raises(NotYet, match="`&` binds before the comparison"):
        check("99.1", answer, against=lambda x: 1, cases=[Case("one", (2,))])


def inside(x):
    return x if 0 < x & x < 9 else 0


def test_a_letter_without_quotes(sealed_question):
    with pytest.raises(NotYet, match='put the letter in quotes, as in "a".'):
        choice("5.c1", np.zeros(3))
