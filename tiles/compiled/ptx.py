"""What the instructions in PTX do to global memory, and which of them are the tensor cores'."""

from __future__ import annotations

import re

_GLOBAL = re.compile(r"\s*(?:@!?%p\d+\s+)?(ld|st|atom|red)\.([\w:.]*\bglobal\b[\w:.]*)")
_ASYNC = re.compile(r"cp\.async\.c[ag]\.shared\.global[\w:.]*\s+\[[^\]]*\],\s*\[[^\]]*\],\s*(0x[0-9a-f]+|\d+)")
_ELEMENT = re.compile(r"(?:b|u|s|f|bf)(\d+)(?:x(\d))?")
_KINDS = {"ld": "load", "st": "store", "atom": "atomic", "red": "atomic"}


def instruction_bytes(line: str) -> tuple[str, int] | None:
    """What a line of PTX does to global memory, and how many bytes each lane moves: ("load", 16)."""
    if copy := _ASYNC.search(line):
        return "load", int(copy[1], 0)
    access = _GLOBAL.match(line)
    if access is None:
        return None
    parts = access[2].split(".")
    element = next((found for p in reversed(parts) if (found := _ELEMENT.fullmatch(p))), None)
    bits = int(element[1]) * int(element[2] or 1) if element else 0
    vector = next((int(p[1:]) for p in parts if re.fullmatch(r"v\d", p)), 1)
    return _KINDS[access[1]], bits * vector // 8


def vector_bytes(ptx: str) -> dict[tuple[str, str, int, int], int]:
    """Bytes that a lane moves with one instruction: by kind, file, line and column of the source.

    The lines within inline assembly are numbered on by the assembler: the place of its first line holds for all.
    """
    files = dict(re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', ptx, re.MULTILINE))
    widths: dict[tuple[str, str, int, int], int] = {}
    place, inline = ("", 0, 0), False
    for line in ptx.splitlines():
        if "inline asm" in line:
            inline = "begin" in line
        elif mark := re.match(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)", line):
            place = place if inline else (files.get(mark[1], ""), int(mark[2]), int(mark[3]))
        elif moved := instruction_bytes(line):
            key = (moved[0], *place)
            widths[key] = max(widths.get(key, 0), moved[1])
    return widths


def asynchronous_copies(ptx: str) -> tuple[bool, bool]:
    """Whether tiles are copied to shared memory by the lanes (cp.async), and by the tensor memory accelerator."""
    return _ASYNC.search(ptx) is not None, "cp.async.bulk.tensor" in ptx


def tensor_core(ptx: str) -> str | None:
    """The instruction that multiplies tiles: "mma.sync", "wgmma", "tcgen05", or None without tensor cores."""
    for name, instruction in (("tcgen05", "tcgen05.mma"), ("wgmma", "wgmma.mma_async"), ("mma.sync", "mma.sync")):
        if instruction in ptx:
            return name
    return None
