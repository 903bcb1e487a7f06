"""What to do about a fault that the interpreter caught: a sentence beside its message."""

from __future__ import annotations

import ast
import functools
import re
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from tiles.cases import Case
from tiles.diagnose import apart_by_values

OUTSIDE = ("load outside", "store outside", "atomic outside")


def advice(fault: Any, case: Case, passed: Sequence[Case]) -> str:
    """What to do about a KernelError in a case, after the cases that passed; empty when the message says it all."""
    if fault.kind == "grid":
        return _grid(fault, case)
    if words := precedence(getattr(fault, "source", None) or ""):
        return words
    if fault.kind in OUTSIDE:
        return _outside(fault, case, passed)
    if fault.kind == "race":
        return _race(fault)
    if fault.kind == "waiting":
        return "Programs start in no promised order. Number them by a ticket, and wait only for smaller numbers."
    if fault.kind == "poison":
        return _poison(getattr(fault, "source", None) or "")
    if fault.kind == "error in kernel":
        return _of_values(fault) or _error(fault.message, fault.text or "")
    return ""


def of_launches(traffic: Any, inputs: Sequence[str], outputs: Sequence[str], elements: int) -> str:
    """What launches did, where it explains a wrong result; empty where it does not.

    traffic: their Traffic. inputs, outputs: names of the launcher's arguments. elements: of all outputs.
    """
    for launch in traffic.launches:
        if not launch.programs:
            grid = list(launch.grid)
            while len(grid) > 1 and grid[-1] == 1:
                grid.pop()
            text = f"({grid[0]},)" if len(grid) == 1 else str(tuple(grid))
            return f"The grid of {launch.kernel} is {text}: no program ran. Round up, with `triton.cdiv`."
    kernels = {launch.kernel: launch.request[0] for launch in traffic.launches if launch.request}
    for kernel in kernels.values():
        if words := precedence(kernel.src):
            return words
    stores = [tally for tally in traffic.tallies if tally.kind == "store"]
    if (
        len(traffic.launches) == 1
        and 0 < 8 * sum(t.executed for t in stores) < elements
        and all(t.lanes == t.executed for t in stores)
    ):
        loads = [tally for tally in traffic.tallies if tally.kind == "load"]
        if all(t.lanes == t.executed for t in loads):
            return "Each program reads and stores one element: are the offsets a tile, made with `tl.arange`?"
    taken = {name.removesuffix("_ptr") for kernel in kernels.values() for name in kernel.arg_names}
    unread = [name for name in inputs if name in taken and name not in traffic.loads and name not in outputs]
    return f"{' and '.join(unread)} {'is' if len(unread) == 1 else 'are'} never read." if unread else ""


def _grid(fault: Any, case: Case) -> str:
    """A grid that starts far too many programs: how many tiles cover the output, as far as the constants tell."""
    shape = tuple(case.outputs[0].shape)
    size, started = int(np.prod(shape)), fault.count
    elements = f"{size:,} element{'s' * (size != 1)}"
    names = ("BLOCK_SIZE",) if len(shape) == 1 else ("BLOCK_M", "BLOCK_N")
    blocks = [block for name in names if isinstance(block := (fault.constants or {}).get(name), int)]
    if len(blocks) == len(shape):
        tiles = int(np.prod([-(-n // block) for n, block in zip(shape, blocks)]))
        if started <= tiles:
            return f"The tiles, {' by '.join(map(str, blocks))}, are small: let each program take more of the {elements}."
        covered = f"{tiles:,} tile{'s' * (tiles != 1)} of {' by '.join(map(str, blocks))} cover{'s' * (tiles == 1)} the output"
        return f"{covered}, {elements}. One program for each tile: divide by the side of the tile, rounded up."
    return f"The output has {elements}. One program for each tile, not for each element, is enough."


@functools.lru_cache(maxsize=64)
def precedence(source: str) -> str:
    """A sentence about `mask & i > 0` in a function's source, which compares `mask & i` with 0; empty where there is none."""
    source = textwrap.dedent(source)
    try:
        nodes = ast.walk(ast.parse(source))
    except SyntaxError:
        return ""
    for node in nodes:
        if not isinstance(node, ast.Compare):
            continue
        for side in (node.left, *node.comparators):
            if not (isinstance(side, ast.BinOp) and isinstance(side.op, (ast.BitAnd, ast.BitOr))):
                continue
            is_mask = isinstance(side.left, ast.Compare) or (isinstance(side.left, ast.Name) and "mask" in side.left.id)
            if is_mask or len(node.ops) > 1:  # `i & 1 == 0` is as it should be
                sign = "&" if isinstance(side.op, ast.BitAnd) else "|"
                text = ast.get_source_segment(source, node)
                return f"In `{text}`, `{sign}` binds before the comparison: put each comparison in parentheses."
    return ""


def _poison(source: str) -> str:
    if name := _reduced_by_mistake(source):
        return (
            f"`tl.{name}(a, 0)` is the {'largest' if name == 'max' else 'smallest'} of a whole tile, along its axis 0; "
            f"`tl.{name}imum(a, 0.0)` compares lane by lane."
        )
    if re.search(r"tl\.(sum|max|min|argmax|argmin|dot|cumsum)\(|\.(sum|max|min)\(", source):
        return "Is the mask of that load too narrow? If not, give it an `other=` that does the result no harm."
    return (
        "Is the mask of that load too narrow, or that of the store too wide? If neither, give the load an `other=` that does the "
        "result no harm."
    )


def _reduced_by_mistake(source: str) -> str:
    """ "max" where `tl.max(a, 0)` is stored lane by lane, or has an axis 0.0; "min" likewise; empty where neither is."""
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:
        return ""
    stores = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "tl.store"]
    masked = [store.args[1] for store in stores if len(store.args) > 2 or (store.keywords and len(store.args) == 2)]
    names = {value.id for value in masked if isinstance(value, ast.Name)}
    values = masked + [n.value for n in ast.walk(tree) if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) in names]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("tl.max", "tl.min") and len(node.args) == 2:
            axis = ast.unparse(node.args[1])
            if axis == "0.0" or (axis == "0" and any(node is value for value in values)):
                return ast.unparse(node.func).removeprefix("tl.")
    return ""


def _of_values(fault: Any) -> str:
    """What the variables in the line that failed hold, where that explains the failure; else empty."""
    values = getattr(fault, "values", None) or {}
    message = fault.message
    addresses = [(name, value) for name, value in values.items() if value.kind == "addresses" and value.line]
    if re.search(r"pointer<|cannot add pointers", message) and addresses:
        name, value = addresses[0]
        return f"`{name}` holds addresses, made in line {value.line}, and not what lies there: `tl.load` reads it."
    for name, value in values.items():
        if value.kind == "NumPy array" and value.line:
            return f"`{name}` is a NumPy array (line {value.line}), and a kernel knows tiles alone: make it with `tl`."
    tiles = [(name, value) for name, value in values.items() if value.kind == "tile"]
    if "cannot be block type if pointer" in message and tiles:
        name, value = tiles[0]
        return f"`{name}` is a tile, {list(value.shape)}, and the address is a single one: add the tile up first, or add its offsets."
    if re.search(r"[Cc]annot make_shape_compatible|incompatible dimensions|to have shape|[Cc]annot broadcast|[Rr]ank", message):
        for line, (address, mask) in (fault.widened or {}).items():
            names = [name for name, value in values.items() if value.line == line]
            what = f"`{names[0]}` is {list(mask)}" if names else f"what it loads is {list(mask)}"
            return f"In line {line} the addresses are {list(address)} and the mask {list(mask)}, so {what}. Give it a mask like its addresses."
        shapes = [f"`{name}` is {list(value.shape)}" for name, value in values.items() if value.shape]
        if shapes:
            return f"There {', '.join(shapes)}: which is a column, `[:, None]`, and which a row, `[None, :]`?"
    return ""


ERRORS = (  # what the message or the line of the kernel matches, and what to do about it
    (
        r"arange\(\)|arange's arguments",
        "A tile is `tl.arange(0, BLOCK_SIZE)`, two numbers known when the kernel is compiled. Add its start to it: `start + tl.arange(0, BLOCK_SIZE)`.",
    ),
    (r"(?<![\w.])(sum|any|all|sorted)\(", "Python's own functions cannot go through a tile: `tl.sum(x)`, `tl.max(x)`."),
    (r"\*\* or pow", "A kernel has no `**`: the square of x is `x * x`."),
    (r"(?<![\w.])abs\(", "Python's own functions cannot go through a tile: `tl.abs(x)`."),
    (r"for @:", "A product of matrices is `tl.dot(a, b)`; that of two rows is `tl.sum(x * y)`."),
    (r"Expected dtype \[.*fp32.*but got", "This function takes float32: put `.to(tl.float32)` behind the load."),
    (r"has no attribute 'mean'", "Triton has no mean: divide a `tl.sum` by the number of elements that exist."),
    (r"has no attribute 'silu'", "Triton has no silu: it is `a * tl.sigmoid(a)`."),
    (r"There is a variable of that name outside", "Set it in the kernel, or pass it as an argument."),
    (
        r"Shape element \d+ must have type",
        "The sides of a tile are known when the kernel is compiled: a number, or a `tl.constexpr` such as BLOCK_SIZE.",
    ),
    (r"power of 2", "The size of a tile is a power of two; where the data end earlier, a mask says so."),
    (r"Unsupported ptr type", "Only addresses can be loaded from or stored to: a pointer plus offsets."),
    (r"cannot add pointers", "These are addresses, not values: load first, then add."),
    (r"incompatible dimensions", "Two shapes do not fit together: which is a column, `[:, None]`, and which a row, `[None, :]`?"),
    (r"\w_ptr\w*\[", "A pointer is no array: read with `tl.load(pointer + offsets)`, write with `tl.store`."),
    (r"\b(np|numpy|torch)\.", "Neither NumPy nor PyTorch works inside a kernel: use `tl`."),
)


OUTSIDE_A_KERNEL = (  # what an exception in a launcher says, and what to do about it; {1} as in the line
    (r"Cannot call @triton.jit'd", r"\btl\.(cdiv|next_power_of_2)\(", "Outside a kernel it is `triton.{1}`."),
    (r"Cannot call @triton.jit'd", r"(\w+_kernel)\(", "A kernel is launched on a grid: `{1}[grid](...)`."),
    (r"Cannot call @triton.jit'd", r"", "Triton's `tl` works inside a kernel alone."),
)


def of_exception(said: str, line: str) -> str:
    """What to do about an exception in a launcher, from its words and its line; empty where nothing is known."""
    for words, place, sentence in OUTSIDE_A_KERNEL:
        if re.search(words, said) and (found := re.search(place, line)):
            return sentence.replace("{1}", found[1] if found.groups() else "")
    return ""


def _error(message: str, line: str) -> str:
    if "not iterable" in message and (maker := re.search(r"tl\.(?:zeros|full)\(\s*(\w+)", line)):
        return f"A shape is a list: `[{maker[1]}]`."
    values = re.search(r"could not be broadcast .*: \((\d+),\) and requested shape \(1,\)", message)
    if values and (pointer := re.search(r"tl\.(?:atomic_\w+|store)\(\s*(\w+)\s*,", line)):
        return f"That is one address for {values[1]} values: a tile of addresses is `{pointer[1]} + offs`."
    no_axis = re.search(r"axis .* out of bounds|__index__ returned", message)
    if no_axis and (reduction := re.search(r"tl\.(max|min)\((?!.*axis).*, *[A-Za-z_]", line)):
        word = {"max": "larger", "min": "smaller"}[reduction[1]]
        return f"`tl.{reduction[1]}` reduces one tile; the {word} of two, lane by lane, is `tl.{reduction[1]}imum(a, b)`."
    for pattern, words in ERRORS:
        if re.search(pattern, message) or re.search(pattern, line):
            return words
    if name := re.search(r"name '(\w+)' is not defined", message):
        import triton.language as tl

        if hasattr(tl, name[1]):
            return f"Is it `tl.{name[1]}`?"
    return ""


def _outside(fault: Any, case: Case, passed: Sequence[Case]) -> str:
    operation = fault.kind.split()[0]
    if words := _surplus_program(fault):
        return words
    if words := apart_by_values(case, passed):  # the same sizes are right without gaps
        return words
    if fault.side == "between":
        return f"An element lies at {fault.argument}_ptr plus its index times its stride: which address leaves out a stride?"
    if fault.side == "before":
        return f"That index is negative: which condition does the mask of the {operation} need as well?"
    if fault.count == 1 and _is_next(fault.index, fault.shape, fault.extent):
        return "One too many: compare the last valid index with the number of elements."
    if case.strided or isinstance(fault.index, tuple):
        return f"Look at the mask of the {operation}, and at which stride belongs to which index."
    return f"Look at the mask of the {operation}: which of this program's elements exist?"


def _surplus_program(fault: Any) -> str:
    """A program whose row does not exist, where its number is that row; else empty."""
    if not isinstance(fault.index, tuple) or not fault.shape or getattr(fault, "program", None) is None:
        return ""
    row, n_rows = fault.index[0], fault.shape[0]
    numbers = fault.program if isinstance(fault.program, tuple) else (fault.program,)
    if n_rows <= row in numbers:
        return f"There is a program {fault.program}, and no row {row}: look at the grid."
    return ""


def _is_next(index: Any, shape: Any, extent: Any) -> bool:
    """Whether an index lies one past the end: of the array, or along one of its dimensions."""
    if not isinstance(index, tuple):
        return index == extent
    beyond = [(i, size) for i, size in zip(index, shape or (), strict=False) if not 0 <= i < size]
    return len(beyond) == 1 and beyond[0][0] == beyond[0][1]


def _race(fault: Any) -> str:
    if fault.message.startswith("Programs"):
        return (
            "Which of them is last is luck on a GPU: give each program elements of its own, through `tl.program_id` and the mask."
        )
    return (
        "Which of them comes first is luck on a GPU: leave what one program needs from another to a second launch, "
        "or let each update it in one step that nobody can interrupt."
    )
