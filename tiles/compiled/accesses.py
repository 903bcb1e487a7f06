"""The loads and stores of a compiled kernel, read from its TTGIR and PTX: which lane moves which element."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tiles.compiled.layouts import lane_elements
from tiles.compiled.ptx import vector_bytes
from tiles.compiled.sources import locations
from tiles.memory import WARP, sectors_per_warp


@dataclass(frozen=True, eq=False)
class Access:
    """A load, store or atomic operation in the source of a kernel, and how the compiled kernel's warps carry it out.

    kind: "load", "store" or "atomic". line: where it stands in the file or cell; column: as the compiler counts it, which
        differs between releases.
    shape: of the tile, () for a single element. itemsize: bytes of an element. layout: its text in the TTGIR.
    vector: elements that a lane moves with one instruction.
    elements: [instructions, warps, 32, vector], the element of the tile (in C order) that each lane moves, -1 for none;
        None where the layout is not known, as when the tensor memory accelerator copies the whole tile.
    """

    kind: str
    line: int
    column: int
    shape: tuple[int, ...]
    itemsize: int
    layout: str
    vector: int
    elements: np.ndarray | None

    def sectors(self, addresses: np.ndarray, mask: np.ndarray | None = None) -> int | None:
        """32-byte sectors that one execution moves, instruction by instruction and warp by warp; None without a layout.

        addresses: byte address of every element, of the tile's shape. mask: bool, of a shape that broadcasts to it.
        """
        if self.elements is None:
            return None
        elements = self.elements.reshape(*self.elements.shape[:2], -1)
        live = elements >= 0
        if mask is not None:
            live = live & np.broadcast_to(mask, self.shape).reshape(-1)[elements]
        return int(sectors_per_warp(np.reshape(addresses, -1)[elements], self.itemsize, live).sum())


_ACCESS = re.compile(
    r"(?:tt|ttg|ttng)\.(load|store|atomic_rmw|atomic_cas|async_copy_global_to_local|descriptor_\w+|async_tma_copy_\w+) "
)
_KINDS = {"store": "store", "atomic_rmw": "atomic", "atomic_cas": "atomic"}
_TILE = re.compile(r"tensor<((?:\d+x)+)!tt\.ptr<(.+?)>, (#\w+(?:\.\w+)?(?:<\{.*?\}>+)?)>")


def read_accesses(ttgir: str, ptx: str) -> tuple[Access, ...]:
    """The accesses to global memory, in the order of the TTGIR, each once."""
    layouts, places = _aliases(ttgir), locations(ttgir)
    warps = int(re.search(r'"ttg\.num-warps" = (\d+)', ttgir)[1])
    widths = vector_bytes(ptx)
    found = {}
    for text in ttgir.splitlines():
        operation = _ACCESS.search(text)
        place = places.get((re.findall(r"loc\((#loc\d*)\)\s*$", text) or [""])[0])
        if operation is None or place is None:
            continue
        kind = _KINDS.get(operation[1], "store" if "store" in operation[1] or "local_to_global" in operation[1] else "load")
        shape, itemsize, layout = _tile(text, layouts)
        key = (kind, place, shape, layout)
        if key not in found:
            width = widths.get((kind, *place), 0)
            found[key] = _access(kind, place, shape, itemsize, layout, width, warps)
    return tuple(found.values())


def _tile(text: str, layouts: Mapping[str, str]) -> tuple[tuple[int, ...], int, str]:
    """Shape, bytes of an element and layout of the tile of pointers in one operation; layout "" when there is none."""
    tile = _TILE.search(text)
    if tile:
        return tuple(int(n) for n in tile[1].split("x")[:-1]), _bytes_of(tile[2]), _expand(tile[3], layouts)
    pointer = re.search(r"!tt\.ptr<(\w+)", text)
    if pointer and "tensordesc" not in text:
        return (), _bytes_of(pointer[1]), ""
    described = re.search(r"tensor(?:desc)?<(?:tensor<)?((?:\d+x)+)(\w+)", text)
    shape = tuple(int(n) for n in described[1].split("x")[:-1]) if described else ()
    return shape, _bytes_of(described[2]) if described else 0, "descriptor"


def _bytes_of(element: str) -> int:
    return 8 if "ptr" in element else max(1, int((re.search(r"\d+", element) or ["32"])[0]) // 8)


def _access(
    kind: str, place: tuple[str, int, int], shape: tuple[int, ...], itemsize: int, layout: str, width: int, warps: int
) -> Access:
    if not shape and layout == "":
        elements, vector = np.zeros((1, warps, WARP), dtype=np.int64), 1
    else:
        elements, vector = lane_elements(layout, shape), max(1, width // itemsize) if itemsize else 1
    if elements is None or not width:
        return Access(kind, *place[1:], shape, itemsize, layout, vector, None)
    if kind != "load":
        elements = _first_holders(elements)
    vector = min(vector, len(elements))
    grouped = elements.reshape(-1, vector, *elements.shape[1:]).transpose(0, 2, 3, 1)
    return Access(kind, *place[1:], shape, itemsize, layout, vector, grouped)


def _first_holders(elements: np.ndarray) -> np.ndarray:
    """Where several lanes hold an element, only the first one stores it: -1 in the others."""
    _, first = np.unique(elements.reshape(-1), return_index=True)
    stored = np.full(elements.size, -1)
    stored[first] = elements.reshape(-1)[first]
    return stored.reshape(elements.shape)


def _aliases(ttgir: str) -> dict[str, str]:
    return dict(re.findall(r"^(#\w+) = (#ttg\.\w+<.*>)\s*$", ttgir, re.MULTILINE))


def _expand(layout: str, layouts: Mapping[str, str]) -> str:
    """A layout with the names of others replaced by what they stand for."""
    return re.sub(r"#\w+(?!\w*\.)\b", lambda name: layouts.get(name[0], name[0]), layout)
