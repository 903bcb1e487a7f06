"""Calling a student's launcher: guarded tensors on the CPU or the GPU, and the rules of what it may do.

Imported by `tiles.check` when a case has outputs: it needs PyTorch and Triton.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tiles import interpreter
from tiles.blanks import NotYet
from tiles.cases import Case, Output

GUARD = 64  # elements of poison before and after every tensor
BITS = {1: (torch.int8, 0x5B), 2: (torch.int16, 0x7E5B), 4: (torch.int32, 0x7FD1E5E5), 8: (torch.int64, 0x7FF9E5E5E5E5E5E5)}

# What a launcher may ask of torch: scratch memory, views and metadata. Everything else computes.
ALLOWED = set(
    """empty empty_like empty_strided new_empty new_empty_strided zeros zeros_like new_zeros full full_like new_full zero_ fill_
    view _unsafe_view reshape _reshape_alias as_strided expand slice select t transpose permute squeeze unsqueeze narrow split
    unbind diagonal detach alias view_as_real lift_fresh is_pinned""".split()
)


def _strides(shape: tuple[int, ...], layout: int) -> tuple[int, ...]:
    """Element strides of a tensor with gaps; tensors of one call get different layouts (0, 1, 2, ...).

    1-D: every second element, every third, and so on. 2-D and more: even layouts are transposed, all have padded rows.
    """
    step = 2 + layout if len(shape) == 1 else 1 + layout % 2
    strides = [0] * len(shape)
    dimensions = range(len(shape)) if layout % 2 == 0 else range(len(shape) - 1, -1, -1)
    for d in dimensions:
        strides[d] = step
        step *= shape[d] + 1 + layout % 3
    return tuple(strides)


def _without_gaps(shape: tuple[int, ...], order: str) -> tuple[int, ...]:
    """Element strides of a contiguous tensor ("C") or of the transpose of one ("F")."""
    strides = torch.empty(shape if order == "C" else shape[::-1], device="meta").stride()
    return strides if order == "C" else strides[::-1]


class Buffer:
    """A tensor inside poisoned memory: NaN (or an odd number) in its gaps, and a guard strip at both ends.

    values: a NumPy array to copy in, or an Output to be filled. layout: None for one without gaps, else see `_strides`.
    order: of one without gaps, "C" or "F".
    """

    def __init__(self, values: np.ndarray | Output, layout: int | None, device: str, order: str = "C"):
        dtype = getattr(torch, str(values.dtype))
        integer, self.poison = BITS[dtype.itemsize]
        shape = tuple(values.shape)
        strides = _without_gaps(shape, order) if layout is None else _strides(shape, layout)
        extent = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides)) if 0 not in shape else 0
        self.memory = torch.full((extent + 2 * GUARD,), self.poison, dtype=integer, device=device).view(dtype)
        self.tensor = torch.as_strided(self.memory, shape, strides, GUARD)
        self.bits = torch.as_strided(self.memory.view(integer), shape, strides, GUARD)
        if isinstance(values, np.ndarray):
            self.tensor.copy_(torch.from_numpy(np.ascontiguousarray(values)).to(device))
        self.before = self.memory.view(integer).clone()

    def changed(self) -> bool:
        return not torch.equal(self.before, self.memory.view(self.before.dtype))

    def trespassed(self) -> int:
        """How many elements outside the tensor were overwritten."""
        outside = torch.ones_like(self.before, dtype=torch.bool)
        torch.as_strided(outside, self.bits.shape, self.bits.stride(), GUARD).fill_(False)
        return int(((self.memory.view(self.before.dtype) != self.before) & outside).sum())

    def numpy(self) -> np.ndarray:
        return self.tensor.cpu().contiguous().numpy()

    def unwritten(self) -> np.ndarray:
        """Which elements still hold the poison, as a boolean array."""
        return (self.bits == self.poison).cpu().contiguous().numpy()


class _OnlyLaunches(TorchDispatchMode):
    """Refuses every torch operation of the launcher that computes, or that fills an output.

    What happens inside a launch is the interpreter's.
    """

    def __init__(self, outputs: list[Buffer]):
        super().__init__()
        self.outputs = {output.memory.untyped_storage().data_ptr() for output in outputs}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False: else torch imports its compiler, for seconds, at the first operation of a launcher, to keep it out of here."""
        return False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        if not _inside_a_launch():
            if name not in ALLOWED:
                raise NotYet(
                    f"{_where()}the launcher lets torch compute (`{name.strip('_')}`). The kernel must do the work: "
                    "a launcher makes scratch memory, computes strides and launches."
                )
            if name.endswith("_") and args[0].untyped_storage().data_ptr() in self.outputs:
                raise NotYet(f"{_where()}the launcher fills its output (`{name}`). Only the kernel stores there.")
        return function(*args, **(kwargs or {}))


def _inside_a_launch() -> bool:
    """Whether the nearest frame that is not torch's belongs to the interpreter (and not to the student)."""
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if "tiles/interpreter" in file.replace("\\", "/") or "/triton/" in file:
            return True
        if "/torch/" not in file and file != __file__:
            return False
        frame = frame.f_back
    return False


def _where() -> str:
    for frame in inspect.stack(0)[2:]:
        if "/torch/" not in frame.filename and frame.filename != __file__:
            return f"Line {frame.lineno}: "
    return ""


@contextlib.contextmanager
def _no_numpy() -> Iterator[None]:
    """A launcher may not take its tensors to NumPy or Python."""
    names = ("numpy", "__array__", "tolist", "__dlpack__")
    own = {name: getattr(torch.Tensor, name) for name in names}

    def guarded(name: str):
        def method(self, *args, **kwargs):
            if _inside_a_launch():
                return own[name](self, *args, **kwargs)
            raise NotYet(f"{_where()}the launcher takes a tensor out of torch (`{name}`). The kernel must do the work.")

        return method

    for name in names:
        setattr(torch.Tensor, name, guarded(name))
    try:
        yield
    finally:
        for name, method in own.items():
            setattr(torch.Tensor, name, method)


@dataclass
class Attempt:
    """What one call of a launcher did: its outputs (NumPy), which elements it left unwritten, and the counts."""

    outputs: list[np.ndarray]
    unwritten: list[np.ndarray]
    traffic: Any


def attempt(launcher: Callable, case: Case, device: str) -> Attempt:
    """Call `launcher(*inputs, *outputs)` on guarded tensors of `device`.

    Raises NotYet for an input that changed, a store outside the output, a launcher that computes or launches nothing;
    interpreter.KernelError for what the kernel does wrong.
    """
    gaps = iter(range(len(case.inputs) + len(case.outputs)))
    layout = (lambda: next(gaps)) if case.strided else (lambda: None)
    arguments = [Buffer(a, layout(), device, case.order) if isinstance(a, np.ndarray) else a for a in case.inputs]
    outputs = [Buffer(o, layout(), device, case.order) for o in case.outputs]
    given = [a.tensor if isinstance(a, Buffer) else a for a in arguments] + [o.tensor for o in outputs]

    with interpreter.count() as traffic, _no_numpy(), _OnlyLaunches(outputs):
        returned = launcher(*given, **case.options)
    if device != "cpu":
        torch.cuda.synchronize()

    names = list(inspect.signature(launcher).parameters)
    for name, argument in zip(names, arguments):
        if isinstance(argument, Buffer) and argument.changed():
            raise NotYet(f"The launch changed its input {name}. Store into {names[len(arguments)]} alone.")
    for name, output in zip(names[len(arguments) :], outputs):
        if outside := output.trespassed():
            raise NotYet(f"The kernel stored {outside} elements outside {name}: look at the mask and the strides of the store.")
    if device == "cpu" and not traffic.launches:
        raise NotYet("No kernel was launched. A launcher ends in `kernel[grid](...)`.")
    if returned is not None and all(o.unwritten().all() for o in outputs):
        raise NotYet("The launcher returns a result, but nothing was stored in its output. Fill the tensor that it is given.")
    return Attempt([o.numpy() for o in outputs], [o.unwritten() for o in outputs], traffic)
