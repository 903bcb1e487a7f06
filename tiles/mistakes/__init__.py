"""Wrong answers that people give, and what to say to each: one module a lesson, `lesson_01` and so on.

A check that finds a wrong result compares it with what these give for the same inputs; where one fits, its sentence is the
diagnosis. A check cell shows none of them, so they may come close to the right answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

Mistakes = Mapping[str, Callable]


def _of_lessons(table: str) -> dict[str, Mistakes]:
    """That table of every lesson's module that has one, in one."""
    found: dict[str, Mistakes] = {}
    for file in sorted(Path(__file__).parent.glob("lesson_*.py")):
        found.update(getattr(import_module(f"{__name__}.{file.stem}"), table, {}))
    return found


MISTAKES: dict[str, Mistakes] = _of_lessons("MISTAKES")
"""For each exercise: a sentence, and the function of the check's inputs whose result it explains. The first that fits counts."""

WARNED: dict[str, Mistakes] = _of_lessons("WARNED")
"""For each exercise: a sentence, and a function of the variables at a NumPy warning (name -> value) that says whether it fits."""

RAISED: dict[str, Mapping[str, str]] = _of_lessons("RAISED")
"""For each exercise: a sentence, and the regular expression of an exception, "TypeError: its text", that it explains."""


LAUNCHED: dict[str, Mistakes] = _of_lessons("LAUNCHED")
"""For each exercise: a sentence, and a function of a wrong launcher's Traffic and the Case that says whether it fits."""

FAULTED: dict[str, Mistakes] = _of_lessons("FAULTED")
"""For each exercise: a sentence, and a function of a KernelError and the Case that says whether it fits."""


def recognise(
    exercise: str, inputs: Sequence[Any], options: Mapping[str, Any], results: Sequence[Any], which: int, tolerance: Any = 0.0
) -> str:
    """The sentence for a mistake that explains result number `which` of a wrong answer; empty where none does.

    inputs, options: what the answer was called with, as its specification gets them. results: what it returned.
    tolerance: by how much roundings may set the result apart from the mistake's, elementwise.
    A mistake with a parameter `result` is given the wrong result as well, to find a constant in it.
    """
    for sentence, mistaken in MISTAKES.get(exercise, {}).items():
        extra = {"result": results[which]} if "result" in signature(mistaken).parameters else {}
        try:
            with np.errstate(all="ignore"):
                given = mistaken(*inputs, **options, **extra)  # None for a result that it does not speak of
        except (TypeError, ValueError):  # a result of another shape
            continue
        given = list(given) if isinstance(given, tuple) else [given]
        if which < len(given) and given[which] is not None and _equal(results[which], given[which], tolerance):
            return sentence
    return ""


def recognise_warning(exercise: str, values: Mapping[str, Any]) -> str:
    """The sentence for a mistake that explains a NumPy warning, from the variables where it arose; empty where none does."""
    for sentence, fits in WARNED.get(exercise, {}).items():
        try:
            with np.errstate(all="ignore"):
                if fits(values):
                    return sentence
        except (KeyError, TypeError, ValueError):  # the answer has other variables
            continue
    return ""


def recognise_launches(exercise: str, traffic: Any, case: Any) -> str:
    """The sentence for a mistake that explains what launches did; empty where none does. traffic: their Traffic."""
    return _first_that_fits(LAUNCHED.get(exercise, {}), traffic, case)


def recognise_fault(exercise: str, fault: Any, case: Any) -> str:
    """The sentence for a mistake that explains a KernelError; empty where none does."""
    return _first_that_fits(FAULTED.get(exercise, {}), fault, case)


def _first_that_fits(mistakes: Mistakes, facts: Any, case: Any) -> str:
    for sentence, fits in mistakes.items():
        try:
            if fits(facts, case):
                return sentence
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):  # another signature, other arguments
            continue
    return ""


def recognise_error(exercise: str, error: str) -> str:
    """The sentence for a mistake that explains an exception, given as "TypeError: its text"; empty where none does."""
    return next((sentence for sentence, pattern in RAISED.get(exercise, {}).items() if re.search(pattern, error)), "")


def _equal(result: Any, given: Any, tolerance: Any) -> bool:
    result, given = np.asarray(result, float), np.asarray(given, float)
    return result.shape == given.shape and np.allclose(result, given, rtol=1e-6, atol=tolerance, equal_nan=True)
