"""The inputs that a check tries: ragged sizes, strides that differ, values that break naive code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

INFINITY = float("inf")


@dataclass(frozen=True)
class Output:
    """An output that a launcher fills: its shape and dtype name. Dimension names serve the messages."""

    shape: tuple[int, ...]
    dtype: str = "float32"


@dataclass(frozen=True)
class Case:
    """One set of arguments for a student's function.

    label: what a message calls it ("n = 1000, large negatives").
    inputs: NumPy arrays, numbers, or tuples of these, in the order of the function's parameters.
    outputs: what the function fills, after its inputs; empty where it returns its result.
    sizes: the sizes by name, as the budgets of a check receive them.
    options: keyword arguments. launcher: the function launches kernels on tensors that the check makes from the inputs.
    strided: for launchers, whether these tensors have gaps or are transposed.
    order: for launchers whose tensors have no gaps, "C" (row by row) or "F" (column by column), as NumPy calls them.
    kind: the kind of its values, a key of VALUES: it serves the diagnosis of what sets a wrong case apart.
    raises: the exception with which the function, which returns its result, must refuse these arguments.
    """

    label: str
    inputs: tuple
    outputs: tuple[Output, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    launcher: bool = False
    strided: bool = False
    kind: str = "normal"
    order: str = "C"
    raises: type[Exception] | None = None


def _normal(rng, shape):
    return rng.standard_normal(shape)


def _integers(rng, shape):
    return rng.integers(-8, 9, shape).astype(float)


def _large(rng, shape):
    return 1000 * rng.standard_normal(shape)


def _large_negatives(rng, shape):
    return -200.0 - np.abs(rng.standard_normal(shape))


def _all_negative(rng, shape):
    return -1000 * (1 + np.abs(rng.standard_normal(shape)))


def _minus_infinity(rng, shape):
    values = rng.standard_normal(shape)
    values[..., ::3] = -INFINITY
    values[..., -1] = 0.5
    return values


def _starts_with_minus_infinity(rng, shape):
    values = rng.standard_normal(shape)
    values[..., : max(1, 2 * shape[-1] // 3)] = -INFINITY
    values[..., -1] = -3.0
    return values


def _ends_with_minus_infinity(rng, shape):
    return _starts_with_minus_infinity(rng, shape)[..., ::-1]


def _equal(rng, shape):
    return np.full(shape, 0.5)


def _far_below_zero(rng, shape):
    return -1e30 * (1 + np.abs(rng.standard_normal(shape)))


def _all_minus_infinity(rng, shape):
    return np.full(shape, -INFINITY)


def _one_huge(rng, shape):
    values = rng.standard_normal(shape)
    values[..., shape[-1] // 2] = 1e4
    return values


def _rising(rng, shape):
    return np.sort(rng.standard_normal(shape) * 10, axis=-1)


def _falling(rng, shape):
    return _rising(rng, shape)[..., ::-1]


VALUES = {
    "normal": _normal,
    "integers": _integers,
    "large": _large,
    "large negatives": _large_negatives,
    "all negative": _all_negative,
    "some -inf": _minus_infinity,
    "-inf first": _starts_with_minus_infinity,
    "-inf last": _ends_with_minus_infinity,
    "all -inf": _all_minus_infinity,
    "equal": _equal,
    "far below 0": _far_below_zero,
    "one huge": _one_huge,
    "rising": _rising,
    "falling": _falling,
}


def values(kind: str, shape: Sequence[int], rng: np.random.Generator, dtype: str = "float32") -> np.ndarray:
    """An array of the named kind of values; the kinds are the keys of VALUES. What dtype cannot hold becomes its extreme."""
    if kind not in VALUES:
        raise ValueError(f"there are no values called {kind!r}; choose from {', '.join(VALUES)}")
    made = VALUES[kind](rng, tuple(shape))
    if np.dtype(dtype).kind == "f":  # "far below 0" goes beyond float16
        most = float(np.finfo(dtype).max)
        made = np.where(np.isfinite(made), np.clip(made, -most, most), made)
    return made.astype(dtype)


def rows(
    *sizes: int,
    block_size: int | Sequence[int] | None = None,
    kinds: Sequence[str] = ("normal",),
    dtype: str = "float32",
    out: bool = False,
    seed: int = 0,
) -> list[Case]:
    """1-D arrays of `sizes` elements, each with every kind of values.

    block_size: also given to the function, after the array; one size or one for each array.
    out: the function fills an array of the same size and dtype.
    """
    rng = np.random.default_rng(seed)
    blocks = [block_size] * len(sizes) if block_size is None or isinstance(block_size, int) else list(block_size)
    if len(blocks) != len(sizes):
        raise ValueError(f"{len(sizes)} sizes, but {len(blocks)} block sizes")
    cases = []
    for kind in kinds:
        for n, block in zip(sizes, blocks):
            label = f"n = {n}" + (f", block_size = {block}" if block else "") + ("" if kind == "normal" else f", {kind}")
            inputs = (values(kind, (n,), rng, dtype),) + ((block,) if block else ())
            known = {"n": n} | ({"block_size": block} if block else {})
            cases.append(Case(label, inputs, (Output((n,), dtype),) if out else (), known, kind=kind))
    return cases


SIGNS = {"rows apart": "large negatives", "rows crossing": "falling"}  # every second row has these scores with the other sign


def attention_inputs(
    *sizes: Sequence[int], kinds: Sequence[str] = ("normal",), dtype: str = "float32", seed: int = 0, **options: Any
) -> list[Case]:
    """Queries [n_q, d], keys [n_k, d] and values [n_k, d_v], and then block_q and block_k, for attention in NumPy.

    sizes: tuples (n_q, n_k, d, d_v, block_q, block_k). kinds: of the scores q k / sqrt(d), the keys of VALUES without -inf, and
    two more: in "rows apart" half of the rows lie near -200 and half near 200, in "rows crossing" half of them fall far and half rise.
    options: keyword arguments, such as causal=True; with a value that is true they are named in the label.
    """
    rng = np.random.default_rng(seed)
    cases = []
    for kind in kinds:
        for size in sizes:
            known = dict(zip(("n_q", "n_k", "d", "d_v", "block_q", "block_k"), size))
            n_q, n_k, d, d_v = size[:4]
            q, k, v = (rng.standard_normal(shape) for shape in ((n_q, d), (n_k, d), (n_k, d_v)))
            if kind != "normal":
                q[:, 0] = d**0.5
                k[:, 0] = values(SIGNS.get(kind, kind), (n_k,), rng)
            if kind in SIGNS:
                q[1::2, 0] *= -1
            if kind == "rows crossing":
                k[:, 0] *= 20
            words = [f"{name} = {size}" for name, size in known.items()] + [name for name, value in options.items() if value]
            label = ", ".join(words + ([] if kind == "normal" else [f"scores: {kind}"]))
            arrays = tuple(array.astype(dtype) for array in (q, k, v))
            cases.append(Case(label, (*arrays, *size[4:]), sizes=known, options=options, kind=kind))
    return cases


def tensors(
    shapes: str,
    *,
    dtypes: Sequence[str] = ("float32",),
    out_dtype: str | None = None,
    kinds: Sequence[str] = ("normal",),
    strided: bool = False,
    orders: str = "C",
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    **sizes: Sequence[int],
) -> list[Case]:
    """Arguments for a launcher, described as in `tensors("M N, N -> M N", M=[1, 3, 64], N=[1, 127, 128])`.

    shapes: the inputs' shapes, then those of the outputs, which the check makes and owns.
    sizes: for each name a list; the first case takes the first of each, and so on (a shorter list repeats its last).
    strided: every case a second time, with tensors that have gaps or are transposed.
    orders: "CF" for every case twice, with tensors that lie row by row in memory and column by column.
    dtypes, kinds: every case with each of them. out_dtype: of the outputs, when not that of the inputs.
    """
    before, arrow, after = shapes.partition("->")
    if not arrow:
        raise ValueError(f"{shapes!r} names no output: write for example 'n, n -> n'")
    inputs, outputs = ([part.split() for part in side.split(",") if part.strip()] for side in (before, after))
    used = list(dict.fromkeys(name for shape in inputs + outputs for name in shape if not name.isdigit()))
    if set(used) != set(sizes):
        raise ValueError(f"{shapes!r} uses the sizes {', '.join(used)}; values were given for {', '.join(sizes) or 'none'}")

    rng = np.random.default_rng(seed)
    longest = max((len(sizes[name]) for name in used), default=1)
    columns = [list(sizes[name]) + [sizes[name][-1]] * (longest - len(sizes[name])) for name in used]
    cases = []
    for dtype in dtypes:
        for kind in kinds:
            for picked in zip(*columns):
                known = dict(zip(used, picked))
                extent = [tuple(known[name] if name in known else int(name) for name in shape) for shape in inputs + outputs]
                arrays = tuple(values(kind, shape, rng, dtype) for shape in extent[: len(inputs)])
                filled = tuple(Output(shape, out_dtype or dtype) for shape in extent[len(inputs) :])
                label = ", ".join(f"{name} = {size}" for name, size in known.items())
                label += ("" if dtype == "float32" else f", {dtype}") + ("" if kind == "normal" else f", {kind}")
                ways = [(", column by column" if order == "F" else "", False, order) for order in orders]
                for words, gaps, order in ways + [(", strided", True, "C")] * strided:
                    cases.append(Case(label + words, arrays, filled, known, options or {}, True, gaps, kind, order))
    return cases
