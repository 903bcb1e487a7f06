"""A known kernel with known results and counts, run once at import: does this Triton do what the package relies on?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import triton
import triton.language as tl

from tiles.interpreter.dispatch import LOCK
from tiles.interpreter.errors import KernelError
from tiles.interpreter.support import unsupported
from tiles.interpreter.traffic import COLLECTORS, Traffic


@triton.jit
def center(tile, mask, n_elements):
    """The tile less its mean: a helper, as lessons have them."""
    return tile - tl.sum(tl.where(mask, tile, 0.0), 0) / n_elements


@triton.jit
def known_kernel(x_ptr, out_ptr, n_elements, store_from, WITH_OTHER: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    """out = x - mean(x), written from `store_from` on by every program."""
    offs = tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    if WITH_OTHER:
        x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    else:
        x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + store_from + offs, center(x, mask, n_elements), mask=mask if WITH_OTHER else offs < BLOCK_SIZE)


def selftest() -> None:
    """Launch a known kernel and compare its result, its counts and what it is refused. A few milliseconds.

    Raises RuntimeError when this Triton behaves differently, naming the installed and the supported releases.
    """
    try:
        problem = next(_problems(), None)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        raise unsupported(problem)


def _problems() -> Iterator[str]:
    x, out = torch.arange(40.0), torch.zeros(64)

    def launch(programs: int = 1, n_elements: int = 40, store_from: int = 0, with_other: bool = True) -> None:
        known_kernel[(programs,)](x, out, n_elements, store_from, WITH_OTHER=with_other, BLOCK_SIZE=64)

    traffic = _counted(launch)
    if out[:40].tolist() != [value - 19.5 for value in range(40)] or out[40:].any():
        yield "a known kernel gives other values"
    if (traffic.loaded, traffic.stored, traffic.sectors) != ({"x": 160}, {"out": 160}, {"x": 5, "out": 5}):
        yield "a known kernel moves other bytes"
    for kind, arguments in (
        ("load outside", {"n_elements": 41}),
        ("store outside", {"store_from": 25}),
        ("poison", {"with_other": False}),
        ("race", {"programs": 2}),
    ):
        if (found := _refusal(launch, arguments)) != kind:
            yield f"{kind} is not noticed" if found is None else f"{kind} is taken for {found}"


def _counted(launch: Callable) -> Traffic:
    """The traffic of one launch, unseen by any `count()` around it."""
    traffic = Traffic()
    with LOCK:
        around, COLLECTORS[:] = list(COLLECTORS), [traffic]
        try:
            launch()
        finally:
            COLLECTORS[:] = around
    return traffic


def _refusal(launch: Callable, arguments: dict[str, Any]) -> str | None:
    try:
        launch(**arguments)
    except KernelError as error:
        return error.kind
    return None
