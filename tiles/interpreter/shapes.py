"""Triton's types and values, made quickly: what depends on a shape alone is worked out once.

An interpreted kernel makes a block type and a value for each operation of each program, and compares types and shapes;
that is half of what it costs. These functions stand in for Triton's during a launch, and give the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as triton_interpreter
from triton.language.semantic import TritonSemantic

_block_type_init = tl.block_type.__init__
_tensor_init = tl.tensor.__init__
_get_np_dtype = triton_interpreter._get_np_dtype
_broadcast_impl_value = TritonSemantic.broadcast_impl_value
_unwrap_if_constexpr = tl.core._unwrap_if_constexpr
_equal_dtypes, _equal_tuples = tl.dtype.__eq__, tl.tuple.__eq__

BLOCK_TYPES: dict[tuple[int, ...], tuple[dict[str, Any], str]] = {}  # what a block type of a shape holds, and its shape in words
VALUES: dict[tuple[int, ...], dict[str, Any]] = {}  # what a value of a shape holds
DTYPES: dict[str, np.dtype] = {}
PLAIN = frozenset((tl.tensor, tl.dtype, bool, int, float, str, type(None)))  # what holds no constexpr


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
    made.values, made.type = shape.values[:], shape.type
    return made


def _broadcast(self: TritonSemantic, lhs: tl.tensor, rhs: tl.tensor) -> tuple[tl.tensor, tl.tensor]:
    """Triton's `broadcast_impl_value`, which makes the type of a scalar's block twice, and goes through shapes that are equal."""
    left, right = lhs.type, rhs.type
    if not left.is_block():
        return (_splat(self, lhs, right) if right.is_block() else lhs), rhs
    if not right.is_block():
        return lhs, _splat(self, rhs, left)
    return (lhs, rhs) if left.shape.values == right.shape.values else _broadcast_impl_value(self, lhs, rhs)


def _splat(self: TritonSemantic, value: tl.tensor, block: tl.block_type) -> tl.tensor:
    type = block.with_element_ty(value.type.scalar)
    return self.tensor(self.builder.create_splat(type, value.handle), type)


def _numpy_dtype(dtype: tl.dtype) -> np.dtype:
    """Triton's `_get_np_dtype`, which makes a table of all of them for each question."""
    known = DTYPES.get(dtype.name)
    if known is None:
        known = DTYPES[dtype.name] = _get_np_dtype(dtype)
    return known


def _unwrapped(value: Any) -> Any:
    kind = type(value)
    if kind is tl.constexpr:
        return value.value
    return value if kind in PLAIN else _unwrap_if_constexpr(value)


def _same_dtype(self: tl.dtype, other: Any) -> bool:
    return self is other or _equal_dtypes(self, other)


def _same_tuple(self: tl.tuple, other: Any) -> tl.constexpr:
    if type(other) is list and all(type(item) is int for item in other):  # the shape of a result
        return tl.constexpr(self.values == other)
    return _equal_tuples(self, other)


def quick_parts() -> Iterator[tuple[Any, str, Any]]:
    """Rows (object, attribute, new) for `patches.PatchTable`."""
    yield tl.block_type, "__init__", _init_block_type
    yield tl.tensor, "__init__", _init_tensor
    yield TritonSemantic, "broadcast_impl_value", _broadcast
    yield triton_interpreter, "_get_np_dtype", _numpy_dtype
    yield tl.core, "_unwrap_if_constexpr", _unwrapped
    yield tl.dtype, "__eq__", _same_dtype
    yield tl.tuple, "__eq__", _same_tuple
