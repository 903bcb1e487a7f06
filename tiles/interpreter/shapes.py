"""Triton's types and values, made quickly: what depends on a shape alone is worked out once.

An interpreted kernel makes a block type and a value for each operation of each program, and their constructors are half
of what that costs. These stand in for them during a launch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as triton_interpreter

_block_type_init = tl.block_type.__init__
_tensor_init = tl.tensor.__init__
_get_np_dtype = triton_interpreter._get_np_dtype

BLOCK_TYPES: dict[tuple[int, ...], tuple[dict[str, Any], str]] = {}  # what a block type of a shape holds, and its shape in words
VALUES: dict[tuple[int, ...], dict[str, Any]] = {}  # what a value of a shape holds
DTYPES: dict[str, np.dtype] = {}


def _init_block_type(self: tl.block_type, element_ty: tl.dtype, shape: Any) -> None:
    sizes = tuple([size.value if type(size) is tl.constexpr else size for size in shape])
    known = BLOCK_TYPES.get(sizes)
    if known is None or not all(type(size) is int for size in sizes):  # 1.0 == 1, and is refused
        _block_type_init(self, element_ty, shape)
        if all(type(size) is int for size in sizes):
            BLOCK_TYPES[sizes] = {**vars(self), "shape": _copied(self.shape)}, str(self.shape)
        return
    held, words = known
    vars(self).update(held, element_ty=element_ty, shape=_copied(held["shape"]), name=f"<{words}, {element_ty}>")


def _init_tensor(self: tl.tensor, handle: Any, type: tl.dtype) -> None:
    sizes = tuple(type.shape) if type.is_block() else ()
    held = VALUES.get(sizes)
    if held is None:
        _tensor_init(self, handle, type)
        VALUES[sizes] = {**vars(self), "handle": None, "shape": _copied(self.shape)}
        return
    vars(self).update(held, handle=handle, type=type, dtype=type.scalar, shape=_copied(held["shape"]))


def _copied(shape: tl.tuple) -> tl.tuple:
    """A shape of its own, with the same sizes: Triton's tuples can be assigned to."""
    made = object.__new__(tl.tuple)
    vars(made).update(vars(shape), values=list(shape.values))
    return made


def _numpy_dtype(dtype: tl.dtype) -> np.dtype:
    """Triton's `_get_np_dtype`, which makes a table of all of them for each question."""
    known = DTYPES.get(dtype.name)
    if known is None:
        known = DTYPES[dtype.name] = _get_np_dtype(dtype)
    return known


def quick_constructors() -> Iterator[tuple[Any, str, Any]]:
    """Rows (object, attribute, new) for `patches.PatchTable`."""
    yield tl.block_type, "__init__", _init_block_type
    yield tl.tensor, "__init__", _init_tensor
    yield triton_interpreter, "_get_np_dtype", _numpy_dtype
