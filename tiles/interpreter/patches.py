"""What Triton's language is replaced by during an interpreted launch, and put back afterwards."""

from __future__ import annotations

import builtins
import contextlib
import functools
import math
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import triton.compiler.code_generator  # noqa: F401, before anything is replaced: it keeps what it finds, such as tl.minimum for min
import triton.language as tl
import triton.runtime.interpreter as triton_interpreter
from triton.language.extra import libdevice
from triton.runtime.jit import JITFunction

from tiles.interpreter.kernels import block_truth
from tiles.interpreter.shapes import quick_parts

MISSING = object()
TensorHandle = triton_interpreter.TensorHandle


class PatchTable:
    """Rows (object, attribute, what stands there, what a launch puts there), worked out once by Triton's own patcher."""

    def __init__(self, extra: list[tuple[Any, str, Any]]):
        wanted = {(id(owner), name): (owner, name, new) for owner, name, new in _recorded()}
        for owner, name, new in [*_tensor_methods(), *_corrections(), *_libdevice(), *quick_parts(), *extra]:
            wanted[id(owner), name] = (owner, name, new)
        self.rows = [(owner, name, vars(owner).get(name, MISSING), new) for owner, name, new in wanted.values()]
        self.replacements = {
            id(old): new for owner, _, old, new in self.rows if isinstance(owner, types.ModuleType) and old is not MISSING
        }
        self.replacements[id(builtins.range)] = loop

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Put every row in place, and back at the end, whatever happens in between."""
        for owner, name, _, new in self.rows:
            setattr(owner, name, new)
        try:
            yield
        finally:
            for owner, name, old, _ in self.rows:
                if old is MISSING:
                    delattr(owner, name)
                else:
                    setattr(owner, name, old)


def _recorded() -> list[tuple[Any, str, Any]]:
    """What Triton's patcher would change for a kernel that sees `tl` and `tl.core`; nothing is changed for good."""
    scopes, rows = [], {}
    for globals_seen in ({"tl": tl}, {"core": tl.core}):
        scope = triton_interpreter._patch_lang(types.FunctionType(_nothing.__code__, globals_seen))
        scopes.append(scope)
        for owner, name, _ in scope._changes:
            rows[id(owner), name] = (owner, name)
    recorded = [(owner, name, vars(owner)[name]) for owner, name in rows.values()]
    for scope in reversed(scopes):
        scope.restore()
    return recorded


def _nothing() -> None:
    """Code of the functions that are handed to Triton's patcher."""


def _tensor_methods() -> Iterator[tuple[Any, str, Any]]:
    """`x.sum()`: Triton puts its own JITFunctions on the class, and those do not bind `self`."""

    def method(function: JITFunction) -> Callable:
        return lambda self, *args, **kwargs: function(self, *args, **kwargs)

    for name, value in list(vars(tl.tensor).items()):
        if isinstance(value, JITFunction):
            yield tl.tensor, name, method(value)


def _corrections() -> Iterator[tuple[Any, str, Any]]:
    yield tl.tensor, "__bool__", block_truth
    yield tl.tensor, "__index__", _index
    yield tl, "range", loop
    yield tl.core, "range", loop


def _index(self: Any) -> int:
    """A tensor of one element as a Python int: `range(n)` with an argument `n`."""
    if self.handle.data.size != 1:
        raise TypeError(f"one number was expected here, and this is a block of shape {list(self.handle.data.shape)}")
    return int(self.handle.data.reshape(-1)[0])


def loop(arg1: Any, arg2: Any = None, step: Any = None, **_: Any) -> Iterator[tl.tensor]:
    """`range` and `tl.range` in a kernel: the numbers have the width that the compiler gives them, 64 bits where a bound has 64."""
    bounds = [*((0, arg1) if arg2 is None else (arg1, arg2)), 1 if step is None else step]
    bounds = [bound if isinstance(bound, tl.tensor) else operator.index(bound) for bound in bounds]
    semantic = triton_interpreter.interpreter_semantic
    dtypes = [semantic.to_tensor(bound).dtype for bound in bounds]
    if not all(dtype.is_int() for dtype in dtypes):
        raise TypeError(f"a loop counts in whole numbers, and its bounds and step are {', '.join(map(str, dtypes))}")
    dtype = functools.reduce(semantic.integer_promote_impl, dtypes)
    for number in range(*map(operator.index, bounds)):
        yield tl.tensor(TensorHandle(np.array([number], triton_interpreter._get_np_dtype(dtype)), dtype), dtype)


# ---- libdevice


NUMPY_LIBDEVICE: dict[str, Callable] = {
    **{name: getattr(np, name) for name in "cbrt ceil copysign cos cosh exp exp2 expm1 floor fmod hypot log log10 log1p".split()},
    **{name: getattr(np, name) for name in "log2 nextafter rint sin sinh sqrt tan tanh trunc".split()},
    **{"a" + name: getattr(np, "arc" + name) for name in "cos cosh sin sinh tan tanh tan2".split()},
    **{"fast_" + name + "f": getattr(np, name) for name in "cos exp log log10 log2 sin tan tanh".split()},
    "abs": np.abs,
    "erf": np.vectorize(math.erf, otypes=[float]),
    "erfc": np.vectorize(math.erfc, otypes=[float]),
    "exp10": lambda x: np.power(10.0, x),
    "fast_dividef": np.divide,
    "fast_exp10f": lambda x: np.power(10.0, x),
    "fast_powf": np.power,
    "fdim": lambda x, y: np.maximum(x - y, 0),
    "fma": lambda x, y, z: x * y + z,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "lgamma": np.vectorize(math.lgamma, otypes=[float]),
    "nearbyint": np.rint,
    "pow": np.power,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "remainder": lambda x, y: x - y * np.rint(x / y),
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "saturatef": lambda x: np.clip(x, 0, 1),
    "signbit": np.signbit,
    "tgamma": np.vectorize(math.gamma, otypes=[float]),
}


def _libdevice() -> Iterator[tuple[Any, str, Any]]:
    for name, function in NUMPY_LIBDEVICE.items():
        if hasattr(libdevice, name):
            yield libdevice, name, _elementwise(name, function)


def _elementwise(name: str, function: Callable) -> Callable:
    """A libdevice function in NumPy: float32 or float64 in, the same out (a truth value for isnan and the like)."""

    def apply(*args: Any, _semantic: Any = None) -> tl.tensor:
        tensors = [triton_interpreter.interpreter_semantic.to_tensor(arg) for arg in args]
        first = max(tensors, key=lambda tensor: tensor.handle.data.ndim)
        dtype = next((t.dtype for t in tensors if t.dtype in (tl.float32, tl.float64)), None)
        if dtype is None and name != "abs":
            raise ValueError(f"libdevice.{name} takes float32 or float64, not {first.dtype}: convert with .to(tl.float32)")
        result = np.asarray(function(*[tensor.handle.data for tensor in tensors]))
        dtype = tl.int1 if result.dtype == bool else dtype or first.dtype
        handle = TensorHandle(result.astype(triton_interpreter._get_np_dtype(dtype)), dtype)
        return tl.tensor(handle, first.type.with_element_ty(dtype) if first.type.is_block() else dtype)

    return apply
