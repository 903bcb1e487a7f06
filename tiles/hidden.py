"""For hidden checks: a result on inputs that nobody has seen, as a text that is the same on every machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tiles.cases import Case, Output
from tiles.memory import CountedArray, uncounted


def run(launcher: Callable, *inputs, out: Any, dtype: str = "float32", **options) -> np.ndarray:
    """Call a launcher on NumPy inputs, on this machine's device, and return its output as a NumPy array.

    out: shape of the output (an int or a tuple). Elements that the launcher did not write are nan.
    """
    from tiles import launchers
    from tiles.device import DEVICE

    shape = (out,) if isinstance(out, int) else tuple(out)
    inputs = tuple(np.asarray(i) if isinstance(i, (list, np.ndarray)) else i for i in inputs)
    return launchers.attempt(launcher, Case("", inputs, (Output(shape, dtype),), options=options), DEVICE).outputs[0]


def fingerprint(*results) -> str:
    """A result as a short text that is the same on every machine, and that nobody can print without the result.

    Whole numbers are summed exactly, with weights, so that every element counts. Other values are projected on three
    directions and rounded to four digits. When a lesson is executed by its author (TILES_AUTHOR=1), a value so near to a
    rounding boundary that another machine could round it the other way is refused with ValueError: take another seed.
    """
    return " | ".join(_fingerprint(np.asarray(result, dtype=float)) for result in _flat(results))


def _flat(results):
    for result in results:
        if isinstance(result, (tuple, list)):
            yield from _flat(result)
        else:
            yield uncounted(result) if isinstance(result, CountedArray) else result


def _fingerprint(array: np.ndarray) -> str:
    finite = np.isfinite(array)
    words = ["x".join(map(str, array.shape)) or "scalar"]
    for name, count in (("nan", np.isnan(array).sum()), ("inf", np.isposinf(array).sum()), ("-inf", np.isneginf(array).sum())):
        if count:
            words.append(f"{count} {name}")
    values = np.where(finite, array, 0.0).ravel()
    places = np.arange(1, values.size + 1)
    if np.all(values == np.rint(values)) and np.abs(values).max(initial=0) < 2**31:
        whole = [int(v) for v in values]
        words += [str(sum(whole)), str(sum(int(p) * v for p, v in zip(places, whole)) % 1_000_003)]
    else:
        size = np.abs(values).max()
        words.append(f"{_rounded(np.log10(size)):.3f}")
        for k in (1.0, 2.0**0.5, 3.0**0.5):
            weights = 1.5 + np.cos(k * places)
            words.append(f"{_rounded(float(weights @ values) / (size * np.sqrt(values.size))):.3f}")
    return " ".join(words)


def _rounded(value: float) -> float:
    distance = abs(value * 1000 - np.floor(value * 1000) - 0.5)
    if os.environ.get("TILES_AUTHOR") and distance < 0.01:
        raise ValueError("a fingerprint lies on a rounding boundary: another machine may print another digit. Change the seed.")
    return round(value, 3) + 0.0
