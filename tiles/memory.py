"""Memory, counted: arrays that live in slow memory (NumPy lessons)."""

from __future__ import annotations

from typing import Any

import numpy as np


class CountedArray:
    """An array in slow memory that counts the elements read from it and written to it.

    Indexing loads: `block = x[4:8]` brings four elements into fast memory, as an ordinary array that may be used
    as often as you like. Assigning stores: `out[4:8] = block`. Anything that needs the whole array, such as
    `np.max(x)`, `x - m` or `x.max()`, reads every element once.

    array: any array; it is copied. reads, writes: elements so far.
    """

    def __init__(self, array: Any):
        self._data = np.array(array)
        self.reads = 0
        self.writes = 0

    shape = property(lambda self: self._data.shape)
    size = property(lambda self: self._data.size)
    ndim = property(lambda self: self._data.ndim)
    dtype = property(lambda self: self._data.dtype)

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, index: Any) -> Any:
        block = np.array(self._data[index])
        self.reads += block.size
        return block[()]

    def __setitem__(self, index: Any, values: Any) -> None:
        self.writes += self._data[index].size
        self._data[index] = values

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        self.reads += self.size
        return self._data.astype(dtype or self.dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __repr__(self) -> str:
        return f"CountedArray({self.shape}, {self.dtype}; {self.reads} read, {self.writes} written)"

    def uncounted(self) -> np.ndarray:
        """A copy of the values, for a check: reading it costs nothing."""
        return self._data.copy()


def _operator(name: str):
    def apply(self, *others):
        return getattr(np.asarray(self), name)(*(np.asarray(o) if isinstance(o, CountedArray) else o for o in others))

    return apply


for _name in "add sub mul truediv floordiv mod pow matmul lt le gt ge eq ne and or".split():
    for _prefix in ("", "r"):
        if hasattr(np.ndarray, f"__{_prefix}{_name}__"):
            setattr(CountedArray, f"__{_prefix}{_name}__", _operator(f"__{_prefix}{_name}__"))
for _name in ("neg", "abs", "invert"):
    setattr(CountedArray, f"__{_name}__", _operator(f"__{_name}__"))
CountedArray.__hash__ = object.__hash__
