"""What to do about a fault that the interpreter caught: a sentence beside its message."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tiles.cases import Case
from tiles.diagnose import apart_by_values

OUTSIDE = ("load outside", "store outside", "atomic outside")


def advice(fault: Any, case: Case, passed: Sequence[Case]) -> str:
    """What to do about a KernelError in a case, after the cases that passed; empty when the message says it all."""
    if fault.kind in OUTSIDE:
        return _outside(fault, case, passed)
    if fault.kind == "race":
        return _race(fault)
    if fault.kind == "poison":
        return "Is the mask of that load too narrow? If not, give it an `other=` that does the result no harm."
    if fault.kind == "error in kernel":
        return _error(fault.message, fault.text or "")
    return ""


ERRORS = (  # what the message or the line of the kernel matches, and what to do about it
    (r"power of 2", "The size of a tile is a power of two; where the data end earlier, a mask says so."),
    (r"Unsupported ptr type", "Only addresses can be loaded from or stored to: a pointer plus offsets."),
    (r"cannot add pointers", "These are addresses, not values: load first, then add."),
    (r"incompatible dimensions", "Two shapes do not fit together: which is a column, `[:, None]`, and which a row, `[None, :]`?"),
    (r"\w_ptr\w*\[", "A pointer is no array: read with `tl.load(pointer + offsets)`, write with `tl.store`."),
    (r"\b(np|numpy|torch)\.", "Neither NumPy nor PyTorch works inside a kernel: use `tl`."),
)


def _error(message: str, line: str) -> str:
    for pattern, words in ERRORS:
        if re.search(pattern, message) or re.search(pattern, line):
            return words
    if name := re.search(r"name '(\w+)' is not defined", message):
        import triton.language as tl

        if hasattr(tl, name[1]):
            return f"Is it `tl.{name[1]}`?"
    return ""


def _outside(fault: Any, case: Case, passed: Sequence[Case]) -> str:
    operation = fault.kind.split()[0]
    if words := apart_by_values(case, passed):  # the same sizes are right without gaps
        return words
    if fault.side == "between":
        return f"An element lies at {fault.argument}_ptr plus its index times its stride: which address leaves out a stride?"
    if fault.side == "before":
        return f"That index is negative: which condition does the mask of the {operation} need as well?"
    if fault.count == 1 and _is_next(fault.index, fault.shape, fault.extent):
        return "One too many: compare the last valid index with the number of elements."
    if case.strided or isinstance(fault.index, tuple):
        return f"Look at the mask of the {operation}, and at which stride belongs to which index."
    return f"Look at the mask of the {operation}: which of this program's elements exist?"


def _is_next(index: Any, shape: Any, extent: Any) -> bool:
    """Whether an index lies one past the end: of the array, or along one of its dimensions."""
    if not isinstance(index, tuple):
        return index == extent
    beyond = [(i, size) for i, size in zip(index, shape or (), strict=False) if not 0 <= i < size]
    return len(beyond) == 1 and beyond[0][0] == beyond[0][1]


def _race(fault: Any) -> str:
    if fault.message.startswith("Programs"):
        return (
            "Which of them is last is luck on a GPU: give each program elements of its own, through `tl.program_id` and the mask."
        )
    return (
        "Which of them comes first is luck on a GPU: leave what one program needs from another to a second launch, "
        "or let each update it in one step that nobody can interrupt."
    )
