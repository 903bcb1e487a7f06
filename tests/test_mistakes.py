"""Known mistakes: the sentence that a check says instead of a guess."""

from types import SimpleNamespace

import numpy as np
import pytest

from tiles import Case, check
from tiles.blanks import NotYet
from tiles.mistakes import FAULTED, LAUNCHED, MISTAKES, WARNED, recognise, recognise_fault, recognise_launches, recognise_warning


@pytest.fixture
def mistakes(monkeypatch):
    monkeypatch.setitem(
        MISTAKES, "99.1", {"You rounded down.": lambda x, n: (n // 4, x), "You doubled.": lambda x, n: (-(-n // 4), 2 * x)}
    )


def test_a_known_mistake_is_named(mistakes):
    cases = [Case("n = 6", (np.ones(3), 6))]
    with pytest.raises(NotYet, match=r"blocks is 1, expected 2.\n  You rounded down.$"):
        check("99.1", lambda x, n: (n // 4, x), against=lambda x, n: (-(-n // 4), x), cases=cases, returns=("blocks", "x"))
    with pytest.raises(NotYet, match=r"\(blocks is right.\)\n  You doubled.$"):
        check("99.1", lambda x, n: (2, x + x), against=lambda x, n: (-(-n // 4), x), cases=cases, returns=("blocks", "x"))


def test_a_mistake_in_the_shape_is_named(monkeypatch):
    monkeypatch.setitem(MISTAKES, "99.1", {"It fits.": lambda x, result: result + x, "The last one is lost.": lambda x: x[:-1]})
    with pytest.raises(NotYet, match=r"has shape \(2,\), expected \(3,\)\.\n  The last one is lost\.$"):
        check("99.1", lambda x: x[:-1], against=lambda x: x, cases=[Case("three", (np.ones(3),))])


def test_many_numbers_in_the_place_of_one(monkeypatch):
    monkeypatch.setitem(MISTAKES, "99.1", {"Those are all: which one is asked for?": lambda x: x})
    with pytest.raises(NotYet, match=r"has shape \(3,\), expected one number\.\n  Those are all: which one is asked for\?$"):
        check("99.1", lambda x: x, against=lambda x: x.max(), cases=[Case("three", (np.ones(3),))])


@pytest.mark.parametrize("second, named", [(7.0, True), (9.0, False)])
def test_upside_down_in_every_case(second, named):
    cases = [Case("one", (5.0, 1.0)), Case("two", (second, 1.0))]
    with pytest.raises(NotYet) as caught:
        check("99.2", lambda x, y: 0.2 if x == 5 else 1 / 7, against=lambda x, y: x / y, cases=cases)
    assert ("upside down" in str(caught.value)) == named


def test_other_mistakes_are_not(mistakes):
    assert recognise("99.1", (np.ones(3), 6), {}, [3, np.ones(3)], 0) == ""
    assert recognise("99.1", (np.ones(3), 6), {}, [1, np.ones(2)], 1) == ""
    assert recognise("99.2", (np.ones(3), 6), {}, [1, np.ones(3)], 0) == ""


def test_a_mistake_behind_a_warning(monkeypatch):
    monkeypatch.setitem(WARNED, "99.1", {"alpha is above 1.": lambda values: values["alpha"] > 1})
    assert recognise_warning("99.1", {"alpha": np.inf}) == "alpha is above 1."
    assert (
        recognise_warning("99.1", {"alpha": 1.0})
        == recognise_warning("99.1", {})
        == recognise_warning("99.2", {"alpha": 2})
        == ""
    )
    assert recognise_warning("99.1", {"alpha": "two"}) == ""

    with pytest.raises(NotYet, match=r"overflow encountered in exp.*\n  alpha is above 1\.$"):
        check("99.1", answer_of, against=lambda x: x, cases=[Case("one", (np.ones(3, np.float32),))])


def answer_of(x):
    alpha = np.float32(2)
    return x * np.exp(alpha * np.float32(1000))


def test_every_lesson_has_a_module_of_its_own():
    assert {exercise.split(".")[0] for exercise in MISTAKES} <= {str(n) for n in range(1, 14)}


def test_what_launches_did_is_recognised(monkeypatch):
    facts = SimpleNamespace(programs=3)
    of_one = {"No such fact.": lambda found, case: found.grid > 1, "Too many.": lambda found, case: found.programs > case}
    for table, recognised in ((LAUNCHED, recognise_launches), (FAULTED, recognise_fault)):
        monkeypatch.setitem(table, "99.1", of_one)
        assert [recognised("99.1", facts, most) for most in (2, 3)] == ["Too many.", ""]
        assert recognised("99.2", facts, 2) == ""
