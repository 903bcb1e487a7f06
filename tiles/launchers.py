"""Calling a student's launcher: guarded tensors on the CPU or the GPU, and the rules of what it may do.

Imported by `tiles.check` when a case has outputs: it needs PyTorch and Triton.
"""

from __future__ import annotations

import _thread
import contextlib
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import triton
from torch.utils._python_dispatch import TorchDispatchMode

from tiles import interpreter
from tiles.blanks import NotYet
from tiles.cases import Case, Output

GUARD = 64  # elements of poison before and after every tensor
BITS = {1: (torch.int8, 0x5B), 2: (torch.int16, 0x7E5B), 4: (torch.int32, 0x7FD1E5E5), 8: (torch.int64, 0x7FF9E5E5E5E5E5E5)}

# A nan that arithmetic hands on, also from one floating-point type to another, and that is not the poison of an output
SCRATCH = {torch.float16: 0x7E4C, torch.float32: 0x7FC98000, torch.float64: 0x7FF9300000000000}
UNFILLED = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}

_FOLDER = {module: os.path.dirname(os.path.abspath(module.__file__)) + os.sep for module in (torch, triton, interpreter)}

# What a launcher may ask of torch: scratch memory, views and metadata. Everything else computes.
ALLOWED = set(
    """empty empty_like empty_strided new_empty new_empty_strided zeros zeros_like new_zeros full full_like new_full zero_ fill_
    view _unsafe_view reshape _reshape_alias as_strided expand slice select t transpose permute squeeze unsqueeze narrow split
    unbind diagonal detach alias view_as_real lift_fresh is_pinned""".split()
)
COPIES = {"copy_", "set_", "clone"}  # and a launch, of tensors of a GPU: to interpret it on the host, or to tune it


def strides_with_gaps(shapes: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Element strides of the tensors of one call, no two of them alike, so that none can stand in for another.

    1-D: every second element, every third, and so on. 2-D and more: the first tensor of a call is transposed, the second is
    not, and so on; all have padded rows.
    """
    taken: set[int] = set()
    for number, shape in enumerate(shapes):
        strides, step = [0] * len(shape), 2 if len(shape) == 1 else 1
        for d in range(len(shape)) if number % 2 == 0 else range(len(shape) - 1, -1, -1):
            while step in taken:
                step += 1
            strides[d] = step
            taken.add(step)
            step *= shape[d] + 1
        yield tuple(strides)


def _without_gaps(shape: tuple[int, ...], order: str) -> tuple[int, ...]:
    """Element strides of a contiguous tensor ("C") or of the transpose of one ("F")."""
    strides = torch.empty(shape if order == "C" else shape[::-1], device="meta").stride()
    return strides if order == "C" else strides[::-1]


class Buffer:
    """A tensor inside poisoned memory: NaN (or an odd number) in its gaps, and a guard strip at both ends.

    values: a NumPy array to copy in, or an Output to be filled. strides: in elements.
    """

    def __init__(self, values: np.ndarray | Output, strides: tuple[int, ...], device: str):
        dtype = getattr(torch, str(values.dtype))
        integer, self.poison = BITS[dtype.itemsize]
        shape = tuple(values.shape)
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


_storage = torch.Tensor.untyped_storage


def _address(tensor: torch.Tensor) -> int:
    """Where a tensor's memory begins. After torch.set_default_device, what is asked of a tensor passes by `_no_numpy`."""
    with torch._C.DisableTorchFunction():
        return _storage(tensor).data_ptr()


class _OnlyLaunches(TorchDispatchMode):
    """Refuses every torch operation of the launcher that computes, or that fills an output.

    Inside a launch too, which calls what it is given, such as `len(grid)`: there the student's code leaves no frame.
    """

    def __init__(self, outputs: list[Buffer]):
        super().__init__()
        self.outputs = {_address(output.memory) for output in outputs}
        self.copies = COPIES if any(output.memory.is_cuda for output in outputs) else set()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """False: else torch imports its compiler, for seconds, at the first operation of a launcher, to keep it out of here."""
        return False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        inside = _inside_a_launch()
        if name not in ALLOWED and not (inside and name in self.copies):
            raise NotYet(
                f"{_where()}the launcher lets torch compute (`{name.strip('_')}`). The kernel must do the work: "
                "a launcher makes scratch memory, computes strides and launches."
            )
        if name.endswith("_") and not inside and _address(args[0]) in self.outputs:
            raise NotYet(f"{_where()}the launcher fills its output (`{name}`). Only the kernel stores there.")
        result = function(*args, **(kwargs or {}))
        if name in UNFILLED and result.is_floating_point() and not inside:
            _poison(result)
        return result


def _poison(scratch: torch.Tensor) -> None:
    """Fill new memory with a nan that can be recognised: what torch hands out is often 0, and seldom on another day."""
    if scratch.dtype in SCRATCH:
        integer, _ = BITS[scratch.dtype.itemsize]
        scratch.view(integer).fill_(SCRATCH[scratch.dtype])
    else:
        scratch.fill_(float("nan"))


def _inside_a_launch() -> bool:
    """Whether the nearest frame that is not torch's belongs to the interpreter (and not to the student)."""
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith((_FOLDER[interpreter], _FOLDER[triton])):
            return True
        if not file.startswith(_FOLDER[torch]) and file != __file__:
            return False
        frame = frame.f_back
    return False


def _where() -> str:
    for frame in inspect.stack(0)[2:]:
        if not frame.filename.startswith(tuple(_FOLDER.values())) and frame.filename != __file__:
            return f"Line {frame.lineno}: "
    return ""


@contextlib.contextmanager
def _no_numpy() -> Iterator[None]:
    """A launcher may not take its tensors, or the bytes under them, to NumPy or Python."""
    names = ("numpy", "__array__", "tolist", "__dlpack__", "untyped_storage", "_typed_storage", "__reduce_ex__")
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


@contextlib.contextmanager
def _no_threads() -> Iterator[None]:
    """A launcher may not start threads, in which torch would compute without `_OnlyLaunches`."""
    places = [(threading.Thread, "start"), (_thread, "start_new_thread")]
    own = [getattr(place, name) for place, name in places]

    def guarded(start: Callable):
        def started(*args, **kwargs):
            if _inside_a_launch():
                return start(*args, **kwargs)
            raise NotYet(f"{_where()}the launcher starts a thread. Launch in the order in which the work is to be done.")

        return started

    for (place, name), start in zip(places, own):
        setattr(place, name, guarded(start))
    try:
        yield
    finally:
        for (place, name), start in zip(places, own):
            setattr(place, name, start)


@dataclass
class Attempt:
    """What one call of a launcher did: its outputs (NumPy), which elements it left unwritten, and the counts.

    from_scratch: which elements are nan because scratch memory, in which nothing had been stored, went into them.
    """

    outputs: list[np.ndarray]
    unwritten: list[np.ndarray]
    from_scratch: list[np.ndarray]
    traffic: Any


def _from_scratch(result: np.ndarray) -> np.ndarray:
    """Which elements hold the nan of scratch memory, whatever their sign: a boolean array."""
    pattern = SCRATCH.get(getattr(torch, str(result.dtype)))
    bits = result.view(f"u{result.dtype.itemsize}")
    sign = 1 << (8 * result.dtype.itemsize - 1)
    return np.zeros(result.shape, bool) if pattern is None else (bits & bits.dtype.type(sign - 1)) == pattern


MOST_PROGRAMS = 2000  # that the launches of one call start where they are interpreted: some seconds
MOST_IDLE = 160  # of them, programs of one launch that store nothing, beyond as many as do store


def attempt(launcher: Callable, case: Case, device: str, most: int = MOST_PROGRAMS) -> Attempt:
    """Call `launcher(*inputs, *outputs)` on guarded tensors of `device`.

    Raises NotYet for an input that changed, a store outside the output, a launcher that computes or launches nothing;
    interpreter.KernelError for what the kernel does wrong, or for more than `most` programs.
    """
    shapes = [tuple(a.shape) for a in (*case.inputs, *case.outputs) if isinstance(a, (np.ndarray, Output))]
    strides = iter(strides_with_gaps(shapes) if case.strided else [_without_gaps(shape, case.order) for shape in shapes])
    arguments = [Buffer(a, next(strides), device) if isinstance(a, np.ndarray) else a for a in case.inputs]
    outputs = [Buffer(o, next(strides), device) for o in case.outputs]
    given = [a.tensor if isinstance(a, Buffer) else a for a in arguments] + [o.tensor for o in outputs]

    limited = interpreter.limited(most, MOST_IDLE)
    with limited, interpreter.count() as traffic, _no_numpy(), _no_threads(), _OnlyLaunches(outputs):
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
    stored = sum(tally.lanes for tally in traffic.tallies if tally.kind != "load")
    for name, output in zip(names[len(arguments) :], outputs):
        filled = int((~output.unwritten()).sum())
        if device == "cpu" and filled > stored:
            raise NotYet(f"{filled} elements of {name} are filled, and the kernels stored {stored}. Only a kernel stores there.")
    if returned is not None and all(o.unwritten().all() for o in outputs):
        raise NotYet("The launcher returns a result, but nothing was stored in its output. Fill the tensor that it is given.")
    results = [output.numpy() for output in outputs]
    return Attempt(results, [o.unwritten() for o in outputs], [_from_scratch(result) for result in results], traffic)
