"""A kernel's source, rewritten for the interpreter, and bound to private globals for one launch."""

from __future__ import annotations

import ast
import builtins
import linecache
import re
import sys
import types
import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
import triton.language as tl
import triton.runtime.interpreter as triton_interpreter
from triton.runtime.jit import JITFunction

from tiles.interpreter.errors import KernelError


class Place(NamedTuple):
    """A line of a kernel or a helper: its file, number (from 1), text, and the function it stands in."""

    file: str
    line: int
    text: str
    function: str

    def words(self, kernel_file: str) -> str:
        """ "line 8"; for a helper from another cell or file "line 3 of act"."""
        return f"line {self.line}" if self.file == kernel_file else f"line {self.line} of {self.function}"


class Truth(NamedTuple):
    """A construct that asks a block for one truth value: the lines it spans, and what to write instead."""

    first: int
    last: int
    problem: str


class Rewritten:
    """A `@triton.jit` function compiled for the interpreter.

    code: the function's code object; names: the globals that it uses; library: whether it is Triton's own;
    truths: where it asks for truth values; assigned: {name: the lines that assign to it}.
    """

    def __init__(self, kernel: JITFunction):
        function = kernel.fn
        self.name: str = function.__name__
        self.file: str = function.__code__.co_filename
        self.library = function.__module__ is not None and function.__module__.split(".")[0] == "triton"
        tree = self._parse(kernel)
        self.truths = [] if self.library else list(_truths(tree))
        self.assigned: dict[str, list[int]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.assigned.setdefault(node.id, []).append(node.lineno)
        tree = triton_interpreter.ASTTransformer().visit(tree)
        ast.fix_missing_locations(tree)
        module = compile(tree, self.file, "exec", dont_inherit=True)
        self.code = next(c for c in module.co_consts if isinstance(c, types.CodeType) and c.co_name == self.name)
        self.names = sorted(set(_names(self.code)))

    @staticmethod
    def _parse(kernel: JITFunction) -> ast.Module:
        """The function alone, without decorators, annotations and defaults; its lines numbered as in its file or cell."""
        tree = ast.parse(kernel.src)
        definition = tree.body[0]
        arguments = definition.args
        definition.decorator_list, definition.returns = [], None
        arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
        for node in ast.walk(tree):
            if isinstance(node, ast.arg):
                node.annotation = None
        above = next(i for i, line in enumerate(kernel.raw_src) if line.lstrip().startswith("def "))
        ast.increment_lineno(tree, kernel.starting_line_number + above - 1)
        return tree

    def place(self, line: int) -> Place:
        return Place(self.file, line, linecache.getline(self.file, line).strip(), self.name)


REWRITTEN: weakref.WeakKeyDictionary[types.FunctionType, tuple[str, Rewritten]] = weakref.WeakKeyDictionary()
CODES: dict[int, Rewritten] = {}  # by id of the code object, which its Rewritten keeps alive


def rewritten(kernel: JITFunction) -> Rewritten:
    """The kernel's Rewritten, made once per function and source."""
    known = REWRITTEN.get(kernel.fn)
    if known is not None and known[0] == kernel.src:
        return known[1]
    made = Rewritten(kernel)
    REWRITTEN[kernel.fn] = (kernel.src, made)
    CODES[id(made.code)] = made
    return made


# What rewritten code calls besides the kernel's own globals.
SUPPORT = {
    name: getattr(triton_interpreter, name)
    for name in ("interpreter_semantic", "_InterpreterComparison")
    if hasattr(triton_interpreter, name)
}


def bind(kernel: JITFunction, replacements: dict[int, Any]) -> types.FunctionType:
    """The rewritten kernel as a function over private globals: what its closure and its module hold now, data excepted.

    replacements: {id(object): what a launch uses instead}, for names imported from Triton one by one, and for `range`.
    """
    made, function = rewritten(kernel), kernel.fn
    captured = dict(_captured(function))
    private: dict[str, Any] = {"__builtins__": builtins, "__name__": function.__module__, **SUPPORT}
    for name in made.names:
        if name in captured or name in function.__globals__:
            value = captured[name] if name in captured else function.__globals__[name]
            if not _is_data(value) or _is_declared(name, function):
                private[name] = replacements.get(id(value), value)
        elif id(value := vars(builtins).get(name)) in replacements:
            private[name] = replacements[id(value)]
    bound = types.FunctionType(made.code, private, function.__name__, function.__defaults__)
    bound.__kwdefaults__ = function.__kwdefaults__
    return bound


DATA = (bool, int, float, complex, str, bytes, list, dict, set, np.ndarray, np.generic, torch.Tensor)


def _is_data(value: Any) -> bool:
    """Whether a global is something that no kernel sees: it sees constants, modules and functions."""
    return isinstance(value, DATA) and not isinstance(value, tl.constexpr)


def _is_declared(name: str, function: types.FunctionType) -> bool:
    """Whether the module says `name: tl.constexpr = ...`."""
    return function.__globals__.get("__annotations__", {}).get(name) in (tl.constexpr, "tl.constexpr")


def hidden_global(name: str, function: types.FunctionType) -> Any:
    """The data that the module, or the closure, has under this name and that a kernel does not see; None where it has none."""
    value = dict(_captured(function)).get(name, function.__globals__.get(name))
    return value if _is_data(value) else None


def _captured(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


# ---- where is this


def _visible(code: types.CodeType) -> Rewritten | None:
    made = CODES.get(id(code))
    return made if made is not None and not made.library else None


def line_key() -> tuple[Rewritten, int] | None:
    """Which line of the student's kernel or helper is running: the deepest one that is not Triton's own.

    Quick: the function and the number of the line, of which `Rewritten.place` makes a Place.
    """
    frame = sys._getframe(1)
    while frame is not None:
        if made := _visible(frame.f_code):
            return made, frame.f_lineno
        frame = frame.f_back
    return None


def place_of(error: BaseException) -> Place | None:
    """The deepest line of a kernel or helper that an exception passed through."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if made := _visible(trace.tb_frame.f_code):
            found = made, trace.tb_lineno
        trace = trace.tb_next
    return found[0].place(found[1]) if found else None


class Value(NamedTuple):
    """What a variable of a kernel holds: kind is "addresses", "tile", "number" or the name of another type; its shape, empty for
    one number; and the line that assigned it last, None for an argument."""

    kind: str
    shape: tuple[int, ...]
    line: int | None

    @classmethod
    def of(cls, value: Any, line: int | None) -> Value:
        if isinstance(value, tl.tensor):
            pointer = value.dtype.is_ptr()
            shape = tuple(int(n) for n in value.handle.data.shape) if value.type.is_block() else ()
            return cls("addresses" if pointer else "tile" if shape else "number", shape, line)
        if isinstance(value, np.ndarray):
            return cls("NumPy array", value.shape, line)
        return cls("number" if isinstance(value, (bool, int, float)) else type(value).__name__, (), line)


def values_at(error: BaseException) -> dict[str, Value]:
    """The variables that the line names in which a kernel or helper failed, the deepest one that an exception passed through."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if made := _visible(trace.tb_frame.f_code):
            found = made, trace.tb_lineno, trace.tb_frame.f_locals
        trace = trace.tb_next
    if found is None:
        return {}
    made, line, variables = found
    named = re.findall(r"[A-Za-z_]\w*", made.place(line).text.split("  #")[0])
    before = {name: max((at for at in made.assigned.get(name, ()) if at < line), default=None) for name in named}
    return {name: Value.of(variables[name], before[name]) for name in dict.fromkeys(named) if name in variables}


# ---- truth values of blocks


def _truths(tree: ast.Module) -> Iterator[Truth]:
    """Every construct that asks for a truth value, outer ones first."""
    for node in ast.walk(tree):
        if (problem := _problem(node)) is not None:
            yield Truth(node.lineno, node.end_lineno, problem)


def _problem(node: ast.AST) -> str | None:
    lenient = "the compiler takes it lane by lane, the interpreter cannot"
    if isinstance(node, ast.BoolOp):
        word, sign = ("and", "&") if isinstance(node.op, ast.And) else ("or", "|")
        return f"`{word}` between blocks: {lenient}. Write `{sign}`, and each comparison in parentheses"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"`not` of a block: {lenient}. Write `~`"
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        return "A chained comparison of a block: only single values can be chained. Write `(a <= b) & (b < c)`"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("max", "min"):
        return f"`{node.func.id}()` of a block: {lenient}. Write `tl.{node.func.id}imum`"
    if isinstance(node, (ast.If, ast.While)):
        word = "if" if isinstance(node, ast.If) else "while"
        return f"`{word}` needs one truth value and was given a block. Use a mask, or `tl.where`"
    if isinstance(node, ast.IfExp):
        return "`... if ... else ...` needs one truth value and was given a block. Use `tl.where`"
    return None


def block_truth(self: Any) -> bool:
    """The truth value of a tensor. Of one element: its own. Of a block, asked for by a student's line: an error.

    Triton's own code asks whether an optional block was given: it was.
    """
    data = self.handle.data
    if data.size == 1:
        return bool(data.reshape(-1)[0])
    frame = sys._getframe(1)
    made = _visible(frame.f_code)
    if made is None:
        return True
    line = frame.f_lineno
    if foreign := re.search(r"\b(np|numpy|math|torch)\.(\w+)\(", made.place(line).text):
        raise KernelError(
            f"`{foreign[1]}.{foreign[2]}` was given a block, and works on none: a kernel has `tl` alone", "block truth"
        )
    around = [t for t in made.truths if t.first <= line <= t.last]
    narrowest = min(around, key=lambda t: t.last - t.first, default=None)
    problem = narrowest.problem if narrowest else "One truth value was asked of a block. Use `&`, `|`, `~` or `tl.where`"
    raise KernelError(problem, "block truth")
