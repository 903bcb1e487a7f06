"""Memory, counted: arrays that live in slow memory (NumPy lessons)."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np


class _Memory:
    """What a CountedArray stands for: the values in slow memory, which of them were stored, and the counts."""

    __slots__ = ("data", "written", "reads", "writes", "largest_load")

    def __init__(self, data: np.ndarray):
        self.data, self.written = data, np.zeros(data.shape, bool)
        self.reads = self.writes = self.largest_load = 0

    def load(self, block: np.ndarray) -> np.ndarray:
        """Count a block that is loaded at once."""
        self.reads += block.size
        self.largest_load = max(self.largest_load, block.size)
        return block


_MEMORIES: dict[int, _Memory] = {}  # by the id of the array; not within it, where a function that is given it could reach


class _Sealed(type):
    """A class whose attributes stay what they are."""

    def __setattr__(cls, name: str, value: Any = None) -> None:
        raise AttributeError(f"{cls.__name__} stays as it is: a function that moves less has to read less")

    __delattr__ = __setattr__


class CountedArray(metaclass=_Sealed):
    """An array in slow memory that counts the elements read from it and written to it.

    Indexing loads: `block = x[4:8]` brings four elements into fast memory, as an ordinary array that may be used
    as often as you like. Assigning stores: `out[4:8] = block`. Anything that needs the whole array, such as
    `np.max(x)`, `x - m` or `x.max()`, reads every element once.

    So does a copy of it, which is an ordinary array.

    array: any array; it is copied. reads, writes: elements so far; they only grow.
    """

    __slots__ = ("__weakref__",)

    def __init__(self, array: Any):
        if id(self) in _MEMORIES:
            raise TypeError("the array has its values already: store with x[...] = values")
        _MEMORIES[id(self)] = _Memory(np.array(array))
        weakref.finalize(self, _MEMORIES.pop, id(self)).atexit = False

    def __init_subclass__(cls) -> None:
        raise TypeError("nothing can be derived from CountedArray: keep the array in an attribute of your class")

    __class__ = property(lambda self: CountedArray)  # without it, an array could be made one of a class that miscounts
    reads = property(lambda self: _MEMORIES[id(self)].reads)
    writes = property(lambda self: _MEMORIES[id(self)].writes)
    shape = property(lambda self: _MEMORIES[id(self)].data.shape)
    size = property(lambda self: _MEMORIES[id(self)].data.size)
    ndim = property(lambda self: _MEMORIES[id(self)].data.ndim)
    dtype = property(lambda self: _MEMORIES[id(self)].data.dtype)

    def __setattr__(self, name: str, value: Any = None) -> None:
        raise AttributeError(f"{name} of a CountedArray cannot be set: store values with x[...] = values")

    __delattr__ = __setattr__

    def __len__(self) -> int:
        return len(_MEMORIES[id(self)].data)

    def __getitem__(self, index: Any) -> Any:
        memory = _MEMORIES[id(self)]
        return memory.load(np.array(memory.data[index]))[()]

    def __setitem__(self, index: Any, values: Any) -> None:
        memory = _MEMORIES[id(self)]
        memory.writes += memory.data[index].size
        memory.data[index] = values
        memory.written[index] = True

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        memory = _MEMORIES[id(self)]
        return memory.load(memory.data.astype(dtype or memory.data.dtype))

    def __reduce_ex__(self, protocol: int) -> tuple:
        """A copy (copy, deepcopy, pickle) reads every element, and is an ordinary array."""
        return np.array, (np.asarray(self),)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __repr__(self) -> str:
        return f"CountedArray({self.shape}, {self.dtype}; {self.reads} read, {self.writes} written)"


def uncounted(array: CountedArray) -> np.ndarray:
    """A copy of the values, for a check: reading it costs nothing."""
    return _MEMORIES[id(array)].data.copy()


def unwritten(array: CountedArray) -> np.ndarray:
    """Which elements were never stored, as booleans of the same shape."""
    return ~_MEMORIES[id(array)].written


def largest_load(array: CountedArray) -> int:
    """How many elements were loaded at once, at most."""
    return _MEMORIES[id(array)].largest_load


class LoadCounter:
    """Loads blocks of matrices from slow memory, and counts their elements.

    `counter.load(a, rows, cols)` brings the block `a[rows, cols]` into fast memory, as an ordinary array that may be used
    as often as you like. elements: loaded so far, from all matrices. loads: how many blocks that were.
    """

    def __init__(self) -> None:
        self.elements = 0
        self.loads = 0

    def load(self, matrix: Any, rows: slice, cols: slice) -> np.ndarray:
        """A copy of the block `matrix[rows, cols]`. Raises TypeError unless rows and cols are slices."""
        if not (isinstance(rows, slice) and isinstance(cols, slice)):
            raise TypeError("load takes a matrix and two slices, one of rows and one of columns")
        block = np.array(matrix[rows, cols])
        self.elements += block.size
        self.loads += 1
        return block

    def __repr__(self) -> str:
        return f"LoadCounter({self.elements} elements in {self.loads} blocks)"


def _operator(name: str):
    def apply(self, *others):
        return getattr(np.asarray(self), name)(*(np.asarray(o) if isinstance(o, CountedArray) else o for o in others))

    return apply


for _name in "add sub mul truediv floordiv mod pow matmul lt le gt ge eq ne and or".split():
    for _prefix in ("", "r"):
        if hasattr(np.ndarray, f"__{_prefix}{_name}__"):
            type.__setattr__(CountedArray, f"__{_prefix}{_name}__", _operator(f"__{_prefix}{_name}__"))
for _name in ("neg", "abs", "invert"):
    type.__setattr__(CountedArray, f"__{_name}__", _operator(f"__{_name}__"))
type.__setattr__(CountedArray, "__hash__", object.__hash__)


SECTOR = 32
"""Bytes of a sector, the smallest piece of memory that a GPU moves."""

WARP = 32
"""Lanes that access memory together."""


def _lanes(addresses: Any, itemsize: int, mask: Any) -> tuple[np.ndarray, np.ndarray]:
    """Addresses [..., lanes] as int64 and the mask as bool of the same shape. Raises ValueError for what is no address."""
    if itemsize < 1:
        raise ValueError(f"an access has at least one byte, not {itemsize}")
    addresses = np.atleast_1d(np.asarray(addresses, dtype=np.int64))
    live = np.broadcast_to(np.asarray(True if mask is None else mask, dtype=bool), addresses.shape)
    if (addresses[live] < 0).any():
        raise ValueError("addresses are byte offsets from 0")
    return addresses, live


def _pieces(addresses: np.ndarray, itemsize: int, live: np.ndarray, size: int) -> np.ndarray:
    """The aligned pieces of `size` bytes that each access touches: [..., lanes * k], -1 for none."""
    first, last = addresses // size, (addresses + itemsize - 1) // size
    spans = int((last - first).max(initial=0)) + 1
    pieces = np.minimum(first[..., None] + np.arange(spans), last[..., None])
    return np.where(live[..., None], pieces, -1).reshape(*addresses.shape[:-1], addresses.shape[-1] * spans)


def _distinct(numbers: np.ndarray) -> np.ndarray:
    """How many different numbers, -1 not counted, stand along the last axis: [..., n] to [...]."""
    if not numbers.shape[-1]:
        return np.zeros(numbers.shape[:-1], dtype=np.int64)
    ordered = np.sort(numbers, axis=-1)
    return (ordered[..., :1] >= 0).sum(-1) + ((np.diff(ordered, axis=-1) != 0) & (ordered[..., 1:] >= 0)).sum(-1)


def count_segments(addresses: Any, itemsize: int, segment: int) -> int:
    """How many aligned segments the accesses of some lanes touch, all lanes together.

    addresses: byte address of each active lane, any number and shape, in any order, with or without duplicates.
    itemsize: bytes that a lane accesses; an access that straddles a boundary touches both sides.
    segment: bytes of a segment, 32 for sectors and 128 for cache lines.
    """
    addresses, live = _lanes(np.ravel(np.asarray(addresses, dtype=np.int64)), itemsize, None)
    return int(_distinct(_pieces(addresses, itemsize, live, segment)))


def sectors_per_warp(addresses: Any, itemsize: int, mask: Any = None) -> np.ndarray:
    """How many 32-byte sectors each warp's access moves: [..., 32] byte addresses to [...] sectors.

    itemsize: bytes that a lane accesses, up to 16 with a vector load. mask: which lanes take part, all without it.
    """
    addresses, live = _lanes(addresses, itemsize, mask)
    return _distinct(_pieces(addresses, itemsize, live, SECTOR))


def useful_share(addresses: Any, itemsize: int, mask: Any = None) -> float:
    """Share of the bytes moved that the lanes asked for, 0 to 1, over all warps: [..., 32] byte addresses to a number.

    A byte that several lanes of a warp ask for counts once. When no lane takes part, nothing is wasted: 1.0.
    """
    addresses, live = _lanes(addresses, itemsize, mask)
    moved = SECTOR * int(sectors_per_warp(addresses, itemsize, live).sum())
    return int(_distinct(_pieces(addresses, itemsize, live, 1)).sum()) / moved if moved else 1.0


def bank_conflict_degree(addresses: Any, itemsize: int = 4, banks: int = 32, width: int = 4, mask: Any = None) -> np.ndarray:
    """How often a bank of shared memory must be asked, in the worst bank: [..., 32] byte addresses to [...], 1 without conflict.

    Lanes that want the same word of a bank are served together. A request moves one word from each bank, so accesses of
    8 bytes are served half a warp at a time and those of 16 bytes a quarter: the degree is that of the worst part.

    itemsize: bytes that a lane accesses: 1, 2, 4, 8 or 16; addresses are multiples of it. width: bytes of a bank's word.
    mask: which lanes take part; 0 for a warp in which none does. Raises ValueError for a misaligned address.
    """
    addresses, live = _lanes(addresses, itemsize, mask)
    if (addresses[live] % itemsize).any():
        raise ValueError(f"an access of {itemsize} bytes to shared memory starts at a multiple of {itemsize}")
    parts = max(1, itemsize // width)
    if addresses.shape[-1] % parts:
        raise ValueError(f"{addresses.shape[-1]} lanes cannot be served in {parts} parts")
    shape = (*addresses.shape[:-1], parts, -1)
    words = _pieces(addresses.reshape(shape), itemsize, live.reshape(shape), width)
    words = words[..., None, :]
    of_bank = np.where(words % banks == np.arange(banks)[:, None], words, -1)
    return _distinct(of_bank).max(axis=(-2, -1))
