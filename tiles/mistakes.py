"""Wrong answers that people give, and what to say to each.

A check that finds a wrong result compares it with what these give for the same inputs; where one fits, its sentence is the
diagnosis. A check cell shows none of them, so they may come close to the right answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Mistakes = Mapping[str, Callable]


def recognise(exercise: str, inputs: Sequence[Any], options: Mapping[str, Any], results: Sequence[Any], which: int) -> str:
    """The sentence for a mistake that explains result number `which` of a wrong answer; empty where none does.

    inputs, options: what the answer was called with, as its specification gets them. results: what it returned.
    """
    for sentence, mistaken in MISTAKES.get(exercise, {}).items():
        with np.errstate(all="ignore"):
            given = mistaken(*inputs, **options)
        given = list(given) if isinstance(given, tuple) else [given]
        if which < len(given) and _equal(results[which], given[which]):
            return sentence
    return ""


def _equal(result: Any, given: Any) -> bool:
    result, given = np.asarray(result, float), np.asarray(given, float)
    return result.shape == given.shape and np.allclose(result, given, rtol=1e-6, atol=0, equal_nan=True)


MISTAKES: dict[str, Mistakes] = {}
"""For each exercise: a sentence, and the function of the check's inputs whose result it explains. The first that fits counts."""
