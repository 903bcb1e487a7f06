"""check, choice, fingerprint: what they accept, what they say."""

import hashlib
import json

import numpy as np
import pytest

from tiles import Case, NotYet, check, choice, fingerprint, question, rows
from tiles.blanks import BlankLeft


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
    with pytest.raises(NotYet, match="2 elements are read and written, and 1 would do"):
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
        check("5.3", lambda x: (2.0, 2.0), against=spec_pair, cases=case, returns=("m", "l"))
    with pytest.raises(NotYet, match=r"returns 1 value, expected \(m, l\)"):
        check("5.3", lambda x: 2.0, against=spec_pair, cases=case, returns=("m", "l"))


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

    with pytest.raises(NotYet, match=r"10 elements are read and written, and 7 would do \(6 of a, 4 of b\)\. Load"):
        check("99.1", twice, against=lambda a, b: a.sum() + b.sum(), cases=[Case("", (x, y))], moves=lambda: 7)
