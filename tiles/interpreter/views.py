"""The tensors of a launch as memory: which addresses belong to each, and which program touched them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

REMEMBERED_READS = 1 << 22  # lanes of reads kept as they are, before they are entered into the region's readers


class View:
    """One tensor argument: a view of memory, with the gaps between its elements.

    name: of the argument, without `_ptr`. start, end: addresses of its first byte and behind its last one.
    shape, strides: in elements. origin: address where its allocation starts.
    """

    def __init__(self, name: str, tensor: Any):
        self.name = name
        self.itemsize: int = tensor.element_size()
        self.shape: tuple[int, ...] = tuple(tensor.shape)
        self.strides: tuple[int, ...] = tuple(tensor.stride())
        self.size: int = int(np.prod(self.shape, dtype=np.int64))
        self.start: int = tensor.data_ptr()
        self.origin: int = tensor.untyped_storage().data_ptr() or self.start
        reach = 1 + sum((n - 1) * stride for n, stride in zip(self.shape, self.strides)) if self.size else 0
        self.reach: int = reach  # elements from the first to the last, gaps included
        self.end: int = self.start + reach * self.itemsize
        self.region: Region | None = None

    @property
    def has_gaps(self) -> bool:
        """Whether there may be addresses between its first and last element that are none of its own."""
        return self.reach > self.size or 0 in self.strides

    @cached_property
    def elements(self) -> np.ndarray:
        """For each element position from first to last, gaps included: is it one of the view's? [reach] bool."""
        marks = np.zeros(self.reach, bool)
        np.lib.stride_tricks.as_strided(marks, self.shape, self.strides)[...] = True
        return marks

    def outside(self, addresses: np.ndarray, size: int) -> np.ndarray | None:
        """Which of the accesses of `size` bytes at `addresses` (uint64, not empty) miss the view; None when none does."""
        if not self.size:
            return np.ones(addresses.shape, bool)
        if int(addresses.min()) < self.start or int(addresses.max()) + size > self.end:
            bad = (addresses < self.start) | (addresses + np.uint64(size) > self.end)
            return bad | self._between(addresses, ~bad) if self.has_gaps else bad
        if self.has_gaps:
            bad = self._between(addresses, np.ones(addresses.shape, bool))
            return bad if bad.any() else None
        return None

    def _between(self, addresses: np.ndarray, within: np.ndarray) -> np.ndarray:
        offsets = (addresses - np.uint64(self.start)).view(np.int64)
        position, rest = np.divmod(np.where(within, offsets, 0), self.itemsize)
        return within & ~((rest == 0) & self.elements[position])

    def index(self, address: int) -> int | tuple[int, ...] | None:
        """The index that stands at an address, also outside the view; None where no index leads there.

        An int for one dimension, a tuple for several.
        """
        position, rest = divmod(address - self.start, self.itemsize)
        if rest:
            return None
        counted = [d for d, n in enumerate(self.shape) if n != 1 and self.strides[d]] or list(range(len(self.shape)))[-1:]
        counted.sort(key=lambda d: -self.strides[d])
        found = [0] * len(self.shape)
        for d in counted:
            found[d], position = divmod(position, max(1, self.strides[d]))
        if position or not found:
            return None
        return found[0] if len(found) == 1 else tuple(found)


class Region:
    """Memory shared by one or more views, and which programs touched it.

    Tables with one entry per `granule` bytes hold the last writer, the last program that used an atomic operation, the first
    reader and some second reader (enough to know for every program whether another one has read). Programs are numbered
    from 1 here; 0 is "nobody". A table is made when it is first needed.
    """

    TABLES = ("writers", "atomics", "readers", "second_readers")

    def __init__(self, views: list[View]):
        self.start = min(view.start for view in views)
        self.end = max(view.end for view in views)
        sizes = {view.itemsize for view in views}
        granule = min(sizes)
        aligned = all((view.start - self.start) % granule == 0 for view in views)
        self.granule = granule if aligned else 1
        self.tables: dict[str, np.ndarray] = {}
        self.reads: list[tuple[np.ndarray, int, int]] = []
        self.remembered = 0

    def _table(self, name: str) -> np.ndarray:
        if name not in self.tables:
            self.tables[name] = np.zeros(-(-(self.end - self.start) // self.granule), np.int32)
        return self.tables[name]

    def _positions(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """The entries that accesses of `size` bytes touch: one for each address, or several in a row."""
        if size < self.granule:  # from now on one entry per byte
            self.tables = {name: np.repeat(table, self.granule) for name, table in self.tables.items()}
            self.granule = 1
        positions = (addresses - np.uint64(self.start)).view(np.int64) // self.granule
        if size > self.granule:
            positions = (positions[:, None] + np.arange(size // self.granule)).reshape(-1)
        return positions

    def note_read(self, addresses: np.ndarray, size: int, program: int) -> None:
        """Remember a read; entered into the tables when somebody stores into the region."""
        self.reads.append((addresses, size, program))
        self.remembered += addresses.size
        if self.remembered > REMEMBERED_READS:
            self._enter_reads()

    def _enter_reads(self) -> None:
        for addresses, size, program in self.reads:
            positions = self._positions(addresses, size)
            first, second = self._table("readers"), self._table("second_readers")
            known = first[positions]
            first[positions] = np.where(known == 0, program, known)
            another = positions[(known != 0) & (known != program)]
            second[another] = program
        self.reads.clear()
        self.remembered = 0

    def note_store(self, addresses: np.ndarray, size: int, program: int, atomic: bool) -> None:
        """Enter a store, or an atomic operation."""
        positions = self._positions(addresses, size)
        self._table("atomics" if atomic else "writers")[positions] = program

    def others(self, what: str, addresses: np.ndarray, size: int, program: int) -> tuple[int, int] | None:
        """The first of the addresses (its position) that another program touched, and that program; None when none was.

        what: "writers", "atomics" or "readers".
        """
        if what == "readers":
            self._enter_reads()
        if what not in self.tables:
            return None
        positions = self._positions(addresses, size)
        found = self.tables[what][positions]
        if what == "readers":
            found = np.where(found == program, self.tables["second_readers"][positions], found)
        clash = (found != 0) & (found != program)
        if not clash.any():
            return None
        first = int(clash.argmax())
        return first * addresses.size // found.size, int(found[first])


def join_regions(views: Iterable[View]) -> None:
    """Give every view that is not empty its region; views that overlap share one."""
    group: list[View] = []
    end = -1
    for view in sorted((v for v in views if v.size), key=lambda v: v.start) + [None]:
        if view is None or (group and view.start >= end):
            region = Region(group) if group else None
            for member in group:
                member.region = region
            group, end = [], -1
        if view is not None:
            group.append(view)
            end = max(end, view.end)
