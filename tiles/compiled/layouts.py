"""Layouts: which register of which lane of which warp holds which element of a tile."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

Bases = dict[str, list[tuple[int, ...]]]
"""Where each bit of a register's, lane's and warp's number points in the tile: a step per dimension, a power of two."""


def lane_elements(layout: str, shape: Sequence[int]) -> np.ndarray | None:
    """Which element of a tile each register of each lane of each warp holds: [registers, warps, 32].

    layout: the text of `#ttg.blocked<{...}>`, `#ttg.slice<{dim = ..., parent = ...}>` or `#ttg.linear<{...}>`, as it stands in
    the TTGIR. shape: of the tile, powers of two.
    Elements are numbered in C order, as `tile.reshape(-1)` numbers them. When there are more lanes than elements, several
    lanes hold the same one; registers that would only repeat another one are left out.
    None for other layouts (those of tensor cores), and where a tile is spread over several blocks.
    """
    bases = _bases(layout, tuple(shape))
    if bases is None:
        return None
    strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    number = {part: _combine([sum(s * b for s, b in zip(strides, basis)) for basis in bases[part]]) for part in bases}
    return number["register"][:, None, None] ^ number["warp"][None, :, None] ^ number["lane"][None, None, :]


def _combine(steps: list[int]) -> np.ndarray:
    """The exclusive or of the steps whose bit is set, for each number of as many bits."""
    numbers = np.zeros(1, dtype=np.int64)
    for step in steps:
        numbers = np.concatenate([numbers, numbers ^ step])
    return numbers


def _bases(layout: str, shape: tuple[int, ...]) -> Bases | None:
    kind = re.match(r"#ttg\.(\w+)<\{(.*)\}>$", layout.strip())
    if kind is None or "CTAsPerCGA" in layout or re.search(r"block = \[\[|CGALayout = \[\[", layout):
        return None
    if kind[1] == "blocked":
        return _blocked_bases(kind[2], shape)
    if kind[1] == "slice":
        return _slice_bases(kind[2], shape)
    if kind[1] == "linear":
        bases = {part: [tuple(basis) for basis in _field(kind[2], part)] for part in ("register", "lane", "warp")}
        return _fitted(bases, shape, range(len(shape))[::-1])
    return None


def _field(text: str, name: str) -> Any:
    """The value of `name = ...` in a layout's text: a number, or lists of numbers."""
    return ast.literal_eval(re.search(rf"\b{name} = (\d+|\[[^=]*\])(?:,|$)", text)[1])


def _blocked_bases(text: str, shape: tuple[int, ...]) -> Bases:
    order = _field(text, "order")
    filled = [1] * len(shape)
    bases: Bases = {}
    for part, name in (("register", "sizePerThread"), ("lane", "threadsPerWarp"), ("warp", "warpsPerCTA")):
        bases[part] = []
        counts = _field(text, name)
        for axis in order:
            for _ in range(counts[axis].bit_length() - 1):
                bases[part].append(tuple(filled[axis] * (other == axis) for other in range(len(shape))))
                filled[axis] *= 2
    return _fitted(bases, shape, order)


def _slice_bases(text: str, shape: tuple[int, ...]) -> Bases | None:
    axis, parent = _field(text, "dim"), re.search(r"parent = (.*)$", text)[1]
    bases = _bases(parent, (*shape[:axis], 1, *shape[axis:]))
    if bases is None:
        return None
    kept = {part: [basis[:axis] + basis[axis + 1 :] for basis in bases[part]] for part in bases}
    return _fitted(kept, shape, ())


def _fitted(bases: Bases, shape: tuple[int, ...], order: Sequence[int]) -> Bases:
    """Bases for a tile of that shape: steps that lead out of it go nowhere, more registers cover what is left."""
    inside = {
        part: [tuple(step if step < size else 0 for step, size in zip(basis, shape)) for basis in steps]
        for part, steps in bases.items()
    }
    inside["register"] = [basis for basis in inside["register"] if any(basis)]
    for axis in order:
        filled = 2 * max((basis[axis] for steps in inside.values() for basis in steps), default=0) or 1
        while filled < shape[axis]:
            inside["register"].append(tuple(filled * (other == axis) for other in range(len(shape))))
            filled *= 2
    return inside
