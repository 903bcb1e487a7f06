"""One interpreted launch: its arguments, its grid, and its programs in any order."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import operator
import random
import re
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import triton.language as tl
import triton.runtime.interpreter as triton_interpreter
from triton.backends.nvidia.compiler import CUDAOptions
from triton.runtime.jit import JITFunction, TensorWrapper
from triton.tools.tensor_descriptor import TensorDescriptor

from tiles.blanks import BLANK, refuse_blanks
from tiles.interpreter.access import WATCHING, Counting, Monitor, semantic_patches
from tiles.interpreter.errors import KernelError
from tiles.interpreter.kernels import bind, hidden_global, place_of, values_at
from tiles.interpreter.patches import PatchTable
from tiles.interpreter.traffic import COLLECTORS, Launch
from tiles.interpreter.views import View, join_regions

OPTIONS = {field.name for field in dataclasses.fields(CUDAOptions)}
AXIS_LIMITS = (2**31 - 1, 65_535, 65_535)
ORDERS: list[str | int] = ["forward"]


@contextlib.contextmanager
def order(of: str | int) -> Iterator[None]:
    """Run the programs of interpreted launches in another order: "forward", "reversed", or shuffled by a seed (an int).

    A GPU promises no order: a kernel whose result depends on it is wrong.
    """
    if of not in ("forward", "reversed") and not isinstance(of, int):
        raise ValueError(f'order is "forward", "reversed" or a seed (an int), not {of!r}')
    ORDERS.append(of)
    try:
        yield
    finally:
        ORDERS.pop()


@dataclasses.dataclass
class Limit:
    """How many programs launches may start together, and how many of one launch may store nothing beyond those that do."""

    programs: int
    idle: int
    started: int = 0


LIMITS: list[Limit] = []


@contextlib.contextmanager
def limited(programs: int, idle: int) -> Iterator[Limit]:
    """Refuse interpreted launches with more programs than somebody would wait for: KernelError, kind "grid".

    programs: of all launches inside, together. idle: of one launch, programs that store nothing beyond as many as do store.
    """
    LIMITS.append(Limit(programs, idle))
    try:
        yield LIMITS[-1]
    finally:
        LIMITS.pop()


def in_order(programs: int) -> list[int]:
    """The numbers of the programs (x fastest), in the order that `order` asks for."""
    numbers = list(range(programs))
    if ORDERS[-1] == "reversed":
        numbers.reverse()
    elif ORDERS[-1] != "forward":
        random.Random(ORDERS[-1]).shuffle(numbers)
    return numbers


class Running(threading.local):
    """The launch that this thread interprets: its kernel and helpers by id, bound so far; None outside a launch."""

    functions: dict[int, types.FunctionType] | None = None


RUNNING = Running()
TABLE: list[PatchTable] = []


def patch_table() -> PatchTable:
    """The table, made at the first launch."""
    if not TABLE:
        TABLE.append(PatchTable(list(semantic_patches())))
    return TABLE[0]


def bound_function(kernel: JITFunction) -> types.FunctionType:
    """The kernel or helper as a function of the launch that runs."""
    function = RUNNING.functions.get(id(kernel))
    if function is None:
        function = RUNNING.functions[id(kernel)] = bind(kernel, patch_table().replacements)
    return function


def interpret(kernel: JITFunction, args: tuple, kwargs: dict[str, Any], grid: Any) -> None:
    """Interpret `kernel[grid](*args, **kwargs)`, strictly. The caller holds the lock.

    Raises KernelError for anything that a GPU, or the interpreter, would get wrong.
    """
    given = bound_arguments(kernel, args, kwargs)
    compiled = compiled_for_counts(kernel, args, kwargs)
    copies = HostCopies()
    arguments = {name: copies.of(value) for name, value in given.items()}
    request = (kernel, args, kwargs)
    Interpretation(kernel, arguments, resolved_grid(kernel, grid, given), compiled, request).run()
    copies.write_back()


def compiled_for_counts(kernel: JITFunction, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The launch compiled for the GPU that the innermost `count(target=...)` names; None where none does.

    Raises tiles.compiled.CompileError for what the compiler, or that GPU, refuses.
    """
    target = next((traffic.target for traffic in reversed(COLLECTORS) if traffic.target), None)
    if target is None:
        return None
    from tiles.compiled import compile_gate

    return compile_gate(kernel, args, kwargs, target)


# ---- arguments


def bound_arguments(kernel: JITFunction, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """{parameter: value} with defaults; launch options (num_warps, ...) are dropped. Refuses what no launch takes."""
    name, parameters = kernel.__name__, kernel.arg_names
    for keyword in kwargs:
        if keyword not in parameters and keyword not in OPTIONS:
            close = difflib.get_close_matches(keyword, [*parameters, *OPTIONS], 1)
            hint = f"did you mean {close[0]}?" if close else f"its arguments are {', '.join(parameters)}."
            raise KernelError(f"{name} has no argument {keyword}: {hint}".rstrip("."), "launch", argument=keyword, kernel=name)
    try:
        bound = kernel.signature.bind(*args, **{k: v for k, v in kwargs.items() if k in parameters})
    except TypeError as error:
        raise KernelError(f"The launch does not fit the arguments of {name}: {error}", "launch", kernel=name) from None
    bound.apply_defaults()
    constants = {parameter.name for parameter in kernel.params if parameter.is_constexpr}
    for parameter, value in bound.arguments.items():
        if parameter not in constants:
            refuse(parameter, value, name)
    return dict(bound.arguments)


def refuse(name: str, value: Any, kernel: str) -> None:
    """Raise KernelError for an argument that a launch cannot take, or that the interpreter would compute wrongly."""
    if isinstance(value, tuple):
        for i, item in enumerate(value):
            refuse(f"{name}[{i}]", item, kernel)
    dtype = getattr(getattr(value, "base", value), "dtype", None)
    if dtype in (torch.bfloat16, tl.bfloat16):
        raise KernelError(
            f"{shown(name)} is bfloat16, which is wrong in Triton's interpreter, and this launch is interpreted. "
            f"Use float16 or float32 here ({shown(name)}.float()); on a GPU the kernel may use bfloat16",
            "bfloat16",
            argument=shown(name),
            kernel=kernel,
        )
    advice = ""
    if _without_numbers(getattr(value, "base", value)):
        advice = (
            "a fake tensor, which has a shape and no numbers: torch is tracing this function. "
            f"There a launch reads wrap_triton({kernel})[grid](...)"
        )
    elif isinstance(value, np.ndarray):
        advice = "a NumPy array: a kernel takes torch tensors, torch.from_numpy(...)"
    elif isinstance(value, np.generic):
        advice = f"a {type(value).__name__} of NumPy: a kernel takes Python numbers, {shown(name)}.item()"
    elif isinstance(value, list):
        advice = "a list: a kernel takes tensors, numbers and tuples"
    if advice:
        raise KernelError(f"{shown(name)} is {advice}", "launch", argument=shown(name), kernel=kernel)


def _without_numbers(value: Any) -> bool:
    """Whether a tensor is one of those with which torch traces a function: its address must not be used."""
    tracing = ("FakeTensor", "FunctionalTensor")
    return isinstance(value, torch.Tensor) and (value.device.type == "meta" or type(value).__name__ in tracing)


def shown(name: str) -> str:
    """An argument's name as messages and counts show it: without `_ptr`."""
    return name.removesuffix("_ptr")


class HostCopies:
    """Tensors of a GPU copied to the host for a launch, one copy per allocation, and back after it."""

    def __init__(self) -> None:
        self.storages: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any) -> Any:
        """The value with every tensor on the host; tensors of the host stay as they are."""
        if isinstance(value, tuple):
            items = [self.of(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if isinstance(value, TensorDescriptor):
            return dataclasses.replace(value, base=self.of(value.base))
        if isinstance(value, TensorWrapper):
            return TensorWrapper(self.of(value.base), value.dtype)
        if not getattr(value, "is_cuda", False):
            return value
        device = value.untyped_storage()
        _, host = self.storages.setdefault(device.data_ptr(), (device, device.cpu()))
        copy = torch.empty(0, dtype=value.dtype)
        return copy.set_(host, value.storage_offset(), value.size(), value.stride())

    def write_back(self) -> None:
        for device, host in self.storages.values():
            device.copy_(host)


# ---- grid


def resolved_grid(kernel: JITFunction, grid: Any, arguments: dict[str, Any]) -> tuple[int, int, int]:
    """The grid as three whole numbers. Raises KernelError with the right form for what is not a tuple of them."""
    name = kernel.__name__
    grid = grid(arguments) if callable(grid) else grid

    def wrong(summary: str) -> KernelError:
        return KernelError(summary, "launch", kernel=name)

    if isinstance(grid, list):
        raise wrong(f"The grid of {name} is a list. Write a tuple: {name}[{tuple(grid)}](...)")
    if not isinstance(grid, tuple):
        raise wrong(f"The grid of {name} is {grid!r}. Write a tuple: {name}[({grid},)](...)")
    if not 1 <= len(grid) <= 3:
        raise wrong(f"The grid of {name} has {len(grid)} axes: 1, 2 or 3 are possible")
    counts = []
    for axis, programs in enumerate(grid):
        try:
            counts.append(operator.index(programs))
        except TypeError:
            raise wrong(
                f"Axis {axis} of the grid of {name} is {programs!r}, not a whole number of programs: round up with triton.cdiv"
            ) from None
        if not 0 <= counts[-1] <= AXIS_LIMITS[axis]:
            raise wrong(f"Axis {axis} of the grid of {name} is {counts[-1]}: 0 to {AXIS_LIMITS[axis]:,} programs are possible")
    return tuple(counts + [1] * (3 - len(counts)))


# ---- programs


class Interpretation:
    """A kernel, its arguments on the host, and its grid, ready to run."""

    def __init__(
        self,
        kernel: JITFunction,
        arguments: dict[str, Any],
        grid: tuple[int, int, int],
        compiled: Any = None,
        request: tuple[JITFunction, tuple, dict[str, Any]] | None = None,
    ):
        """compiled: a CompiledKernel whose lanes are counted with, or None. request: the launch as it was asked for."""
        self.kernel, self.grid, self.compiled, self.request = kernel, grid, compiled, request
        parameters = {parameter.name for parameter in kernel.params if parameter.is_constexpr}
        self.constants = {shown(name): unwrapped(value) for name, value in arguments.items() if name in parameters}
        self.arguments, self.parameters = arguments, parameters
        self.views: list[View] = []
        self.nan_given = False

    def run(self) -> None:
        """Run every program. Raises KernelError, located."""
        builder = triton_interpreter.interpreter_builder
        options = builder.options
        with contextlib.ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            stack.enter_context(patch_table().applied())
            builder.options = triton_interpreter.InterpreterOptions(sanitize_overflow=False)
            stack.callback(setattr, builder, "options", options)
            RUNNING.functions = {}
            stack.callback(setattr, RUNNING, "functions", None)
            try:
                function = bound_function(self.kernel)
            except ValueError as error:
                raise KernelError(f"{self.kernel.__name__} cannot be interpreted: {error}", "error in kernel") from error
            values = {name: self._value(name, value) for name, value in self.arguments.items()}
            join_regions(self.views)
            counting = Counting(self.compiled, any(traffic.trace for traffic in COLLECTORS)) if COLLECTORS else None
            monitor = Monitor(self.views, self.grid, counting, self.nan_given)
            hooks = monitor.hooks()
            vars(builder).update(hooks)
            stack.callback(lambda: [vars(builder).pop(name) for name in hooks])
            WATCHING.append(monitor)
            stack.callback(WATCHING.pop)
            stack.enter_context(np.errstate(all="ignore", invalid="call", call=monitor.note_invalid))
            self._run_programs(builder, monitor, function, values)
        self._report(monitor)

    def _run_programs(self, builder: Any, monitor: Monitor, function: Callable, values: dict[str, Any]) -> None:
        nx, ny, nz = self.grid
        builder.set_grid_dim(nx, ny, nz)
        idle, programs = 0, in_order(nx * ny * nz)
        self._refuse_many(len(programs))
        for ran, program in enumerate(programs):
            builder.set_grid_idx(program % nx, program // nx % ny, program // (nx * ny))
            monitor.start_program(program)
            try:
                function(**values)
            except Exception as error:
                if isinstance(error, KernelError) and error.kind == "poison":
                    error = _culprit(error, monitor, function, values)
                located = self._located(error, monitor.program_name(program))
                located.widened = monitor.widened
                raise located from None if located is error else error
            idle += not monitor.stored
            self._refuse_idle(idle, ran + 1, len(programs))

    def _refuse_many(self, programs: int) -> None:
        """Raise KernelError where the launches together start more programs than their limit."""
        for limit in LIMITS[-1:]:
            limit.started += programs
            if limit.started > limit.programs:
                raise self._too_large(f"The grid of {self.kernel.__name__} starts {programs:,} programs", programs)

    def _refuse_idle(self, idle: int, ran: int, programs: int) -> None:
        """Raise KernelError where too many programs store nothing."""
        for limit in LIMITS[-1:]:
            if idle > limit.idle + (ran - idle):
                words = f"{programs:,} programs, and {idle:,} of the first {ran:,} store nothing"
                raise self._too_large(f"The grid of {self.kernel.__name__} starts {words}", programs)

    def _too_large(self, summary: str, programs: int) -> KernelError:
        return KernelError(summary, "grid", count=programs, kernel=self.kernel.__name__, constants=self.constants)

    def _located(self, error: Exception, program: int | tuple[int, ...]) -> KernelError:
        """The exception of a program as a KernelError that says where."""
        if isinstance(error, NameError) and error.name == BLANK:
            refuse_blanks(f"The kernel {self.kernel.__name__}", self.kernel)
        place, values = place_of(error), values_at(error)
        if isinstance(error, NameError) and error.name and hidden_global(error.name, self.kernel.fn) is not None:
            error = KernelError(
                f"`{error.name}` is not defined in this kernel. There is a variable of that name outside, which no kernel sees",
                "error in kernel",
                argument=error.name,
            )
        if not isinstance(error, KernelError):
            said = re.sub(r"'?constexpr\[([^\]]+)\]'?", r"\1", " ".join(str(error).split())).rstrip(".") or "no message"
            error = KernelError(f"The kernel failed: {type(error).__name__.removesuffix('Impl')}: {said}", "error in kernel")
        words = place.words(self.kernel.fn.__code__.co_filename) if place else "line unknown"
        if error.kind == "poison":
            error.store_line = place.line
            words = f"load on line {error.line}, store on {words}"
        if error.kind != "race":
            words += f", program {program}"
        error.locate(
            words,
            line=place.line if place else None,
            text=place.text if place else None,
            program=program,
            kernel=self.kernel.__name__,
            constants=self.constants,
            values=values,
            source=self.kernel.src,
        )
        return error

    def _report(self, monitor: Monitor) -> None:
        for traffic in COLLECTORS:
            traffic.launches.append(
                Launch(
                    self.kernel.__name__,
                    self.grid,
                    dict(self.constants),
                    int(np.prod(self.grid, dtype=np.int64)),
                    [dataclasses.replace(tally) for tally in monitor.counting.tallies.values()],
                    list(monitor.unmasked),
                    list(monitor.counting.touches),
                    self.request,
                )
            )

    def _value(self, name: str, value: Any) -> Any:
        """An argument as the kernel sees it: constants as they are, pointers tagged with their view, numbers as on a GPU."""
        if name in self.parameters:
            return unwrapped(value)
        if isinstance(value, bool):
            return tl.tensor(triton_interpreter.TensorHandle(np.array([value]), tl.int1), tl.int1)
        if isinstance(value, float):
            self.nan_given = self.nan_given or value != value
            return tl.tensor(triton_interpreter.TensorHandle(np.array([value], np.float32), tl.float32), tl.float32)
        if isinstance(value, tuple):
            items = [self._value(f"{name}[{i}]", item) for i, item in enumerate(value)]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        try:
            converted = triton_interpreter._implicit_cvt(value)
        except (TypeError, ValueError) as error:
            raise KernelError(f"{shown(name)} cannot be passed to a kernel: {error}", "launch", argument=shown(name)) from error
        if isinstance(value, TensorDescriptor):
            converted.handle.base.attr["view"] = self._view(name, value.base)
        elif hasattr(value, "data_ptr"):
            converted.handle.attr["view"] = self._view(name, value)
        return converted

    def _view(self, name: str, tensor: Any) -> View:
        tensor = tensor.base if isinstance(tensor, TensorWrapper) else tensor
        taken = {shown(other) for other in self.arguments if other != name}
        self.views.append(View(name if shown(name) in taken else shown(name), tensor))
        return self.views[-1]


def _culprit(error: KernelError, monitor: Monitor, function: Callable, values: dict[str, Any]) -> KernelError:
    """The same error of the first load whose masked-off lanes alone reach a store, where several loads have some.

    The program runs again for each of these loads, with the lanes of the others 0: the launch has failed, so its memory
    does not matter any more.
    """
    lines = list(dict.fromkeys(place.line for place, _ in monitor.poisons))
    counting, monitor.counting = monitor.counting, None
    try:
        for monitor.suspect in lines if len(lines) > 1 else ():
            monitor.start_program(monitor.program)
            try:
                function(**values)
            except KernelError as alone:
                if alone.kind == "poison":
                    return alone
            except Exception:  # what fails with a 0 is not what is looked for
                continue
    finally:
        monitor.suspect, monitor.counting = None, counting
    return error


def unwrapped(value: Any) -> Any:
    return value.value if isinstance(value, tl.constexpr) else value
