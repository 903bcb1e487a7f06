"""Every access that a program makes: inside its tensor or not, masked-off lanes, races and waits between programs, counts.

A `Monitor` watches one launch. Its hooks stand in for methods of Triton's interpreter builder while the launch runs.
Pointers carry the view that they came from, so that an access which runs into a neighbouring tensor is noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as triton_interpreter
from triton._C.libtriton import ir
from triton.language.semantic import TritonSemantic

from tiles.interpreter.errors import KernelError, index_text
from tiles.interpreter.instructions import inline_asm
from tiles.interpreter.kernels import Place, line_key
from tiles.interpreter.traffic import Tally, Touch, count_sectors
from tiles.interpreter.views import View

TensorHandle = triton_interpreter.TensorHandle
Builder = triton_interpreter.InterpreterBuilder
VERBS = {"load": "read", "volatile load": "read", "store": "stored", "atomic": "updated"}
LONGEST_WAIT = 1000  # times that a program may read the same elements in a row, and find the same

# Operations whose result points where their first pointer operand points.
POINTER_OPERATIONS = (
    "create_addptr create_splat create_unsplat create_broadcast create_expand_dims create_reshape create_trans create_bitcast "
    "create_int_to_ptr create_ptr_to_int create_gather"
).split()


class Lanes(NamedTuple):
    """The lanes of one access: where it goes, and which of them the mask lets through (live; None for all).

    addresses: of all lanes, flat, uint64. reached: of the live ones. size: bytes of an element. shape: of the block.
    """

    view: View | None
    addresses: np.ndarray
    live: np.ndarray | None
    reached: np.ndarray
    size: int
    shape: tuple[int, ...]

    def lane(self, position: int) -> int | tuple[int, ...]:
        """The position in the block of a lane, given its position among the live ones."""
        flat = position if self.live is None else int(np.flatnonzero(self.live)[position])
        return tuple(int(i) for i in np.unravel_index(flat, self.shape)) if len(self.shape) > 1 else flat


class Counting:
    """The tallies of one launch.

    compiled: a CompiledKernel (`tiles.compiled`) that says which lane moves which element, or None for C order.
    trace: whether to keep which program touches which elements.
    """

    def __init__(self, compiled: Any = None, trace: bool = False):
        self.compiled, self.trace = compiled, trace
        self.tallies: dict[tuple, Tally] = {}
        self.touches: list[Touch] = []
        self.layouts: dict[tuple, Any] = {}

    def add(self, lanes: Lanes, kind: str, program: int) -> None:
        """Enter an access of a program: one execution of a load, store or atomic operation."""
        made, line = line_key()
        key = (lanes.view.name, kind, made, line)
        tally = self.tallies.get(key)
        if tally is None:
            tally = self.tallies[key] = Tally(lanes.view.name, kind, line, made.place(line).text)
        tally.executed += 1
        tally.lanes += lanes.reached.size
        tally.bytes += lanes.reached.size * lanes.size
        if lanes.reached.size:
            self._count_sectors(lanes, kind, line, tally)
        if self.trace:
            indices = [lanes.view.index(int(address)) for address in lanes.reached]
            shape = lanes.view.shape
            self.touches.append(Touch(tally.argument, kind, program, np.reshape(indices, (-1, len(shape))), shape))

    def _count_sectors(self, lanes: Lanes, kind: str, line: int, tally: Tally) -> None:
        offsets = (lanes.addresses - np.uint64(lanes.view.origin)).view(np.int64)
        layout = self._layout(kind, line, lanes.shape)
        if layout is None:
            tally.sectors += count_sectors(offsets, lanes.live)
            return
        tally.layout = self.compiled.target.name
        live = None if lanes.live is None else lanes.live.reshape(lanes.shape)
        tally.sectors += layout.sectors(offsets, live)

    def _layout(self, kind: str, line: int, shape: tuple[int, ...]) -> Any:
        """How the compiled kernel deals the elements of this access to lanes; None where that is not known."""
        if self.compiled is None:
            return None
        key = (kind, line, shape)
        if key not in self.layouts:
            access = self.compiled.access(kind, line, shape)
            self.layouts[key] = access if access is not None and access.elements is not None else None
        return self.layouts[key]


class Monitor:
    """What happens to memory during one launch.

    views: of its tensor arguments. grid: programs per axis. counting: where accesses are counted, or None.
    nan_given: whether a number among the arguments is nan.
    stored: whether the program that runs has stored anything. suspect: the line of the only load whose masked-off lanes are
    poisoned, None for all of them. widened: see KernelError.
    """

    def __init__(self, views: Sequence[View], grid: tuple[int, ...], counting: Counting | None, nan_given: bool):
        self.views, self.grid, self.counting, self.nan_given = views, grid, counting, nan_given
        self.shared = int(np.prod(grid, dtype=np.int64)) > 1  # several programs can get in each other's way
        self.unmasked: dict[int, None] = {}
        self.fences: dict[int, set[int]] = {}
        self.descriptor: View | None = None
        self.other_omitted = False
        self.suspect: int | None = None
        self.widened: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self.start_program(0)

    def start_program(self, program: int) -> None:
        """From now on accesses belong to this program (its number, x fastest)."""
        self.program = program
        self.stored = False
        self.waiting: tuple[Any, Any, int] = (None, None, 0)  # the addresses last read, what was there, how often in a row
        self.poisons: list[tuple[Place, str]] = []
        self.nan_elsewhere = self.nan_given  # a nan came from an input, or was born in an operation

    def note_invalid(self, *_: Any) -> None:
        """NumPy calls this when an operation gives nan on operands that are none."""
        self.nan_elsewhere = True

    def program_name(self, program: int) -> int | tuple[int, ...]:
        """A program's number as messages show it: an int, or (x, y) and (x, y, z) for a grid of several axes."""
        axes = max([1] + [axis + 1 for axis, programs in enumerate(self.grid) if programs > 1])
        if axes == 1:
            return program
        name = []
        for programs in self.grid[:axes]:
            program, index = divmod(program, programs)
            name.append(index)
        return tuple(name)

    # ---- hooks

    def hooks(self) -> dict[str, Callable]:
        """What stands in for the builder's own methods, by name."""
        builder = triton_interpreter.interpreter_builder
        hooks: dict[str, Callable] = {
            "create_masked_load": self._load,
            "create_masked_store": self._store,
            "create_atomic_rmw": self._atomic_rmw,
            "create_atomic_cas": self._atomic_cas,
            "create_inline_asm": inline_asm,
            "create_select": self._select,
            "get_bf16_ty": self._refuse_bfloat16,
            "get_bf16": self._refuse_bfloat16,
        }
        for name in POINTER_OPERATIONS:
            hooks[name] = _keeping_view(getattr(Builder, name))
        for name in ("create_descriptor_load", "create_descriptor_store"):
            hooks[name] = self._through_descriptor(getattr(Builder, name))
        for name, skipping, propagating in (
            ("create_maxnumf", np.fmax, np.maximum),
            ("create_minnumf", np.fmin, np.minimum),
        ):
            hooks[name] = self._skipping_nan(builder, skipping, propagating)
        for name in ("get_fp16", "get_fp32", "get_fp64"):
            hooks[name] = self._constant(getattr(Builder, name))
        return hooks

    def _load(self, pointers: Any, mask: Any, other: Any, cache_modifier: Any, eviction_policy: Any, is_volatile: bool) -> Any:
        parts = self._access(pointers, mask, "load")
        masked = parts[0].addresses.size - sum(part.reached.size for part in parts)
        omitted, self.other_omitted = self.other_omitted, False
        suspected = self.suspect is None or self.suspect == line_key()[1]
        poisoned = masked if other is None and omitted and suspected else 0  # lanes
        if poisoned:
            other = self._poison(parts[0], pointers)
        rest = cache_modifier, eviction_policy, is_volatile
        loaded = Builder.create_masked_load(_builder(), pointers, _handle(mask), other, *rest)
        if not self.nan_elsewhere and loaded.data.dtype.kind == "f":
            self.nan_elsewhere = int(np.isnan(loaded.data).sum()) > poisoned
        self._refuse_waiting(parts, loaded)
        if is_volatile:  # it may meet an atomic operation: each of the two sees the element as it was before or after the other
            self._note("volatile load", parts, ("writers",))
        else:
            self._note("load", parts, ("writers", "atomics"))
        return loaded

    def _store(self, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        parts = self._access(pointers, mask, "store")
        self._refuse_poison(parts, value)
        self.stored = self.stored or any(part.reached.size for part in parts)
        self._note("store", parts, ("writers", "atomics", "readers"))
        return Builder.create_masked_store(_builder(), pointers, value, _handle(mask), *rest, **named)

    def _atomic_rmw(self, operation: Any, pointers: Any, value: Any, mask: Any, sem: Any, *rest: Any) -> Any:
        parts = self._before_atomic(pointers, mask, value, sem)
        result = Builder.create_atomic_rmw(_builder(), operation, pointers, value, mask, sem, *rest)
        return self._after_atomic(parts, result)

    def _atomic_cas(self, pointers: Any, expected: Any, value: Any, sem: Any, *rest: Any) -> Any:
        parts = self._before_atomic(pointers, None, value, sem)
        result = Builder.create_atomic_cas(_builder(), pointers, expected, value, sem, *rest)
        return self._after_atomic(parts, result)

    def _before_atomic(self, pointers: Any, mask: Any, value: Any, sem: Any) -> list[Lanes]:
        parts = self._access(pointers, mask, "atomic")
        self._refuse_poison(parts, value)
        self.stored = self.stored or any(part.reached.size for part in parts)
        if parts[0].addresses.size == parts[0].reached.size == 1 and sem != ir.MEM_SEMANTIC.RELAXED:
            self.fences.setdefault(self.program, set()).add(int(parts[0].reached[0]))
        self._note("atomic", parts, ("writers", "readers"))
        return parts

    def _after_atomic(self, parts: list[Lanes], result: Any) -> Any:
        self._refuse_waiting(parts, result)
        if not self.nan_elsewhere and result.data.dtype.kind == "f":
            self.nan_elsewhere = bool(np.isnan(result.data).any())
        return result

    def _select(self, condition: Any, left: Any, right: Any) -> Any:
        """`tl.where`: between pointers of one tensor the result points there too; of two, every lane is looked up."""
        result = Builder.create_select(_builder(), condition, left, right)
        view = left.attr.get("view")
        if view is not None and view is right.attr.get("view"):
            result.attr["view"] = view
        return result

    def _through_descriptor(self, method: Callable) -> Callable:
        def access(descriptor: Any, *rest: Any, **named: Any) -> Any:
            self.descriptor = descriptor.base.attr.get("view")
            try:
                return method(_builder(), descriptor, *rest, **named)
            finally:
                self.descriptor = None

        return access

    def _skipping_nan(self, builder: Any, skipping: Callable, propagating: Callable) -> Callable:
        """`tl.maximum` skips nan as a GPU does, but not once poison may be among its operands."""
        return lambda left, right: builder.binary_op(left, right, propagating if self.poisons else skipping)

    def _constant(self, method: Callable) -> Callable:
        def constant(value: Any) -> Any:
            self.nan_elsewhere = self.nan_elsewhere or value != value
            return method(_builder(), value)

        return constant

    def _refuse_bfloat16(self, *_: Any) -> None:
        raise KernelError(
            "bfloat16 is wrong in Triton's interpreter, and this launch is interpreted. Use tl.float16 or tl.float32; "
            "on a GPU the kernel may use bfloat16",
            "bfloat16",
        )

    # ---- bounds and counts

    def _access(self, pointers: Any, mask: Any, kind: str) -> list[Lanes]:
        """Check the bounds of an access and count it, tensor by tensor (nearly always one).

        Raises KernelError for a live lane outside its tensor.
        """
        element = pointers.get_element_ty()
        if element == tl.bfloat16:
            self._refuse_bfloat16()
        addresses = pointers.data.reshape(-1)
        flags = None if mask is None else np.asarray(_handle(mask).data, bool)  # a scalar spread over a block is int32
        live = None if flags is None or flags.all() else np.broadcast_to(flags, pointers.data.shape).reshape(-1)
        reached = addresses if live is None else addresses[live]
        view = pointers.attr.get("view") or self.descriptor
        lanes = Lanes(view, addresses, live, reached, max(1, element.primitive_bitwidth // 8), pointers.data.shape)
        parts = [lanes] if view is not None or not reached.size else self._by_tensor(lanes, kind)
        for part in parts:
            if part.reached.size and (bad := part.view.outside(part.reached, part.size)) is not None:
                raise outside(part, bad, kind)
            if self.counting is not None and part.view is not None:
                self.counting.add(part, kind, self.program)
        return parts

    def _by_tensor(self, lanes: Lanes, kind: str) -> list[Lanes]:
        """The lanes of pointers that were made out of numbers or chosen between tensors, by the tensor each lies in."""
        left = np.ones(lanes.addresses.shape, bool) if lanes.live is None else lanes.live.copy()
        parts = []
        for view in self.views:
            bad = view.outside(lanes.addresses, lanes.size)
            own = left if bad is None else left & ~bad
            if own.any():
                parts.append(lanes._replace(view=view, live=None if own.all() else own, reached=lanes.addresses[own]))
                left = left & ~own
        if left.any():
            raise KernelError(f"The kernel {VERBS[kind]} an address that belongs to none of its arguments", f"{kind} outside")
        return parts

    # ---- masked-off lanes

    def _poison(self, lanes: Lanes, pointers: Any) -> Any:
        """What a load without `other=` gives for its masked-off lanes, and a note of where that was."""
        made, line = line_key()
        self.poisons.append((made.place(line), lanes.view.name if lanes.view else "a tensor"))
        self.unmasked[line] = None
        element = pointers.get_element_ty()
        dtype = triton_interpreter._get_np_dtype(element)
        return TensorHandle(np.full(lanes.shape, poison_value(dtype), dtype), element)

    def _refuse_poison(self, parts: list[Lanes], value: Any) -> None:
        """Raise KernelError when a nan is stored that can only come from masked-off lanes."""
        if not self.poisons or self.nan_elsewhere or value.data.dtype.kind != "f":
            return
        for lanes in parts:
            values = np.broadcast_to(value.data, lanes.shape).reshape(-1)
            bad = np.isnan(values if lanes.live is None else values[lanes.live])
            if bad.any():
                raise self._poisoned(lanes, bad)

    def _poisoned(self, lanes: Lanes, bad: np.ndarray) -> KernelError:
        (load, argument), view, first = self.poisons[0], lanes.view, int(bad.argmax())
        index, count = view.index(int(lanes.reached[first])), int(bad.sum())
        what = f"{view.name}[{index_text(index)}] was" if count == 1 else f"{count} elements of {view.name} were"
        return KernelError(
            f"{what} computed from masked-off lanes of {argument}, whose load has no other=",
            "poison",
            at="" if count == 1 else f"first at index {_bracketed(index)}",
            argument=argument,
            line=load.line,
            text=load.text,
            lane=lanes.lane(first),
            index=index,
            count=count,
            extent=view.size,
        )

    # ---- programs that meet

    def _refuse_waiting(self, parts: list[Lanes], result: Any) -> None:
        """Raise KernelError where a program reads the same elements again and again, and nothing changes: it would for ever."""
        lanes, (before, old, times) = parts[0], self.waiting
        same = before is not None and np.array_equal(before, lanes.addresses) and np.array_equal(old, result.data)
        self.waiting = lanes.addresses, result.data, times + 1 if same else 0
        if times < LONGEST_WAIT or not same or not lanes.reached.size:
            return
        view = lanes.view
        index = view.index(int(lanes.reached[0]))
        raise KernelError(
            f"Program {self.program_name(self.program)} waits for {view.name}[{index_text(index)}] to change, and no program that "
            "started before it is left to change it",
            "waiting",
            argument=view.name,
            index=index,
            count=int(lanes.reached.size),
        )

    def _note(self, kind: str, parts: list[Lanes], tables: tuple[str, ...]) -> None:
        """Enter an access. Raises KernelError when another program of the launch touched an element in a way that matters."""
        if not self.shared:
            return
        me = self.program + 1
        for lanes in parts:
            if not lanes.reached.size:
                continue
            region = lanes.view.region
            for table in tables:
                clash = region.others(table, lanes.reached, lanes.size, me)
                if clash is not None and not self._ordered(clash[1] - 1):
                    raise self._race(kind, table, lanes, *clash)
            if kind == "load":
                region.note_read(lanes.reached, lanes.size, me)
            elif kind != "volatile load":
                region.note_store(lanes.reached, lanes.size, me, atomic=kind == "atomic")

    def _ordered(self, other: int) -> bool:
        """Whether both programs went through the same lock or counter: one atomic operation on one element."""
        return bool(self.fences.get(self.program, set()) & self.fences.get(other, set()))

    def _race(self, kind: str, table: str, lanes: Lanes, position: int, other: int) -> KernelError:
        view, me, them = lanes.view, self.program_name(self.program), self.program_name(other - 1)
        index = view.index(int(lanes.reached[position]))
        element = f"{view.name}[{index_text(index)}]"
        if (kind, table) == ("store", "writers"):
            summary = f"Programs {them} and {me} both stored {element}"
        else:
            did = {"writers": "stored", "readers": "read", "atomics": "updated atomically"}[table]
            does = f"{VERBS[kind]} {element}" + (" atomically" if kind == "atomic" else "")
            summary = f"Program {me} {does}, which program {them} {did} in the same launch"
        return KernelError(
            summary,
            "race",
            argument=view.name,
            index=index,
            count=1,
            extent=view.size,
            lane=lanes.lane(position),
            programs=(them, me),
        )


def outside(lanes: Lanes, bad: np.ndarray, kind: str) -> KernelError:
    """The error for an access whose live lanes `bad` (bool) are no elements of the view."""
    view, first = lanes.view, int(bad.argmax())
    side = _side(view, int(lanes.reached[first]), lanes.size)
    wrong = np.unique(lanes.reached[bad])
    wrong = wrong[[_side(view, int(address), lanes.size) == side for address in wrong]]
    index = view.index(int(lanes.reached[first]))
    summary, at = _outside_words(view, VERBS[kind], side, index, len(wrong), int(lanes.reached[first]))
    return KernelError(
        summary,
        f"{kind} outside",
        at=at,
        argument=view.name,
        lane=lanes.lane(first),
        index=index,
        count=len(wrong),
        extent=view.size,
        shape=view.shape,
        strides=view.strides,
        side=side,
    )


def _side(view: View, address: int, size: int) -> str:
    if not view.size or address + size > view.end:
        return "after" if address >= view.start else "before"
    return "before" if address < view.start else "between"


def _outside_words(view: View, verb: str, side: str, index: Any, count: int, address: int) -> tuple[str, str]:
    """The sentence and, for several elements, where the first is."""
    name, first = view.name, f"first at index {_bracketed(index)}" if index is not None else ""
    element = f"{name}[{index_text(index)}]" if index is not None else "an address"
    if not view.size:
        return (f"The kernel {verb} {element}, and {name} is empty", "") if count == 1 else (
            f"The kernel {verb} {count} elements of {name}, which is empty", first)  # fmt: skip
    edge = {"after": f"past the end of {name}", "before": f"before the start of {name}"}.get(side)
    if edge and count > 1:
        return f"The kernel {verb} {count} elements {edge}", first
    if edge and isinstance(index, int):
        distance = index - view.size + 1 if side == "after" else -index
        return f"The kernel {verb} {element}, {'one' if distance == 1 else distance} {edge}", ""
    if edge:
        shape = f", whose shape is {view.shape}" if len(view.shape) > 1 else ""
        return f"The kernel {verb} {element} {edge}{shape}".replace("] past", "], past").replace("] before", "], before"), ""
    if index is not None:
        return (f"The kernel {verb} {element}, outside its shape {view.shape}", "") if count == 1 else (
            f"The kernel {verb} {count} elements outside the shape {view.shape} of {name}", first)  # fmt: skip
    strides = view.strides[0] if len(view.strides) == 1 else view.strides
    gaps = "one address" if count == 1 else f"{count} addresses"
    behind = f"first {address - view.start} bytes behind the start" if len(view.strides) != 1 else (
        f"first behind {name}[{(address - view.start) // view.itemsize // strides}]")  # fmt: skip
    return f"The kernel {verb} {gaps} between the elements of {name}, whose stride is {strides}", behind


def _bracketed(index: Any) -> str:
    return f"[{index_text(index)}]" if isinstance(index, tuple) else str(index)


def poison_value(dtype: np.dtype) -> Any:
    """What stands in masked-off lanes: nan, or an odd number large enough to be noticed and too small to overflow in sums."""
    if dtype.kind == "f":
        return np.nan
    return True if dtype.kind == "b" else {1: 101, 2: 12_345}.get(dtype.itemsize, 1_234_567)


def _builder() -> Any:
    return triton_interpreter.interpreter_builder


def _handle(mask: Any) -> Any:
    """A mask as a handle: descriptors of some releases pass a bare array."""
    return TensorHandle(mask, tl.int1) if isinstance(mask, np.ndarray) else mask


def _keeping_view(method: Callable) -> Callable:
    """The builder's method, its result tagged with the view of the first operand that has one."""

    def keeping(*operands: Any) -> Any:
        result = method(_builder(), *operands)
        for operand in operands:
            if isinstance(operand, TensorHandle) and (view := operand.attr.get("view")) is not None:
                result.attr["view"] = view
                break
        return result

    return keeping


# ---- what cannot be seen from the builder: rows for the patch table

WATCHING: list[Monitor] = []  # the monitor of the launch that runs
PROPAGATING = {np.nanmax: np.max, np.nanmin: np.min, np.nanargmax: np.argmax, np.nanargmin: np.argmin}

_semantic_load = TritonSemantic.load
_min_max = triton_interpreter.ReduceOps.min_max


def _load_noting_other(self: Any, pointer: Any, mask: Any, other: Any, *rest: Any, **named: Any) -> Any:
    """`tl.load`, noting whether `other=` was given: the builder cannot tell `other=0.0` from none."""
    WATCHING[-1].other_omitted = mask is not None and other is None
    addresses, lanes = _shape(pointer), _shape(mask)
    if addresses and len(lanes) > len(addresses):
        WATCHING[-1].widened[line_key()[1]] = addresses, lanes
    return _semantic_load(self, pointer, mask, other, *rest, **named)


def _shape(value: Any) -> tuple[int, ...]:
    """The shape of a block; empty for anything else."""
    return tuple(int(n) for n in value.type.shape) if isinstance(value, tl.tensor) and value.type.is_block() else ()


def _min_max_of_poison(
    self: Any,
    input: Any,
    val_reduce_op: Callable | None,
    idx_reduce_op: Callable | None = None,
) -> Any:
    """`tl.max` and `tl.min` skip nan as a GPU does, but not once poison may be among their operands."""
    if WATCHING[-1].poisons:
        val_reduce_op = PROPAGATING.get(val_reduce_op, val_reduce_op)
        idx_reduce_op = PROPAGATING.get(idx_reduce_op, idx_reduce_op)
    return _min_max(self, input, val_reduce_op, idx_reduce_op)


def semantic_patches() -> Iterator[tuple[Any, str, Any]]:
    """Rows (object, attribute, new) for `patches.PatchTable`."""
    yield TritonSemantic, "load", _load_noting_other
    yield triton_interpreter.ReduceOps, "min_max", _min_max_of_poison
