"""Blanks (`______`) that a student has not filled yet, found before they turn into a traceback about a name."""

from __future__ import annotations

import dis
import linecache
import re
import sys
import traceback
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from tiles import cells

BLANK = "______"
_CHECK = re.compile(r"^(?:check|choice)\(\s*[\"'](\d+)\.", re.MULTILINE)


class NotYet(AssertionError):
    """An answer that is not right yet. The message is the whole verdict: Jupyter shows it without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class BlankLeft(NotYet):
    """An answer that still has blanks."""


class Blank(NamedTuple):
    """Where a blank stands: the file (or cell) that holds it, its line there (from 1), the text of that line, its function."""

    file: str
    line: int
    text: str
    function: str = ""


def python_function(thing: Any) -> types.FunctionType | None:
    """The Python function under a kernel (`@triton.jit`, autotuned or not) or a decorated function, or None."""
    for _ in range(10):
        if isinstance(thing, types.FunctionType):
            return thing
        inner = getattr(thing, "fn", None) or getattr(thing, "__wrapped__", None)
        if inner is None:
            return None
        thing = inner
    return None


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _lines_with_blanks(code: types.CodeType) -> Iterator[int]:
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        if isinstance(instruction.starts_line, int) and not isinstance(instruction.starts_line, bool):
            line = instruction.starts_line
        line = getattr(instruction, "line_number", None) or line
        if instruction.argval == BLANK:
            position = getattr(instruction, "positions", None)
            yield (position.lineno if position else None) or line


def _named(function: types.FunctionType, code: types.CodeType) -> Iterator[types.FunctionType]:
    """The functions and kernels that some code of a function names: globals, and what it closes over."""
    closed_over = [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]
    for thing in [function.__globals__.get(name) for name in code.co_names] + closed_over:
        if (other := python_function(thing)) is not None:
            yield other


def blanks_of(thing: Any, _seen: set[int] | None = None) -> list[Blank]:
    """Every blank left in a function or kernel and in the functions and kernels of the same module that it names.

    thing: a function, a kernel, or anything else (which has no blanks).
    Returns the blanks in order of file and line.
    """
    seen = set() if _seen is None else _seen
    function = python_function(thing)
    if function is None or id(function) in seen:
        return []
    seen.add(id(function))
    found = []
    for code in _codes(function.__code__):
        found += [
            Blank(code.co_filename, line, linecache.getline(code.co_filename, line).strip(), function.__name__)
            for line in _lines_with_blanks(code)
        ]
        for other in _named(function, code):
            if other.__module__ == function.__module__:
                found += blanks_of(other, seen)
    return sorted(set(found))


def functions_of(thing: Any) -> list[types.FunctionType]:
    """The Python function under `thing`, and those of the same module that it names, directly or not."""
    found: dict[int, types.FunctionType] = {}
    waiting = [python_function(thing)]
    while waiting:
        function = waiting.pop()
        if function is None or id(function) in found:
            continue
        found[id(function)] = function
        for code in _codes(function.__code__):
            waiting += [other for other in _named(function, code) if other.__module__ == function.__module__]
    return list(found.values())


def blank_message(what: str, blanks: list[Blank]) -> str:
    """What ("Exercise 5.3") still has which blanks, with line and text; blanks of other exercises are counted apart."""
    own, others = [], {}
    for blank in blanks:
        exercise = cells.exercise_of(cells.source_of(blank.file))
        if exercise and what.startswith("Exercise ") and what != f"Exercise {exercise}":
            others.setdefault(exercise, []).append(blank)
        else:
            own.append(blank)
    said = []
    if own:
        places = "; ".join(f"line {b.line}, `{b.text.split('  #')[0]}`" for b in own)
        said.append(f"{what} still has {_count(own)}: {places}.")
    for exercise, left in others.items():
        calls = f"{'It also' if own else what} calls {left[0].function}"
        said.append(
            f"{calls}, and exercise {exercise} still has {_count(left)}: fill {'it' if len(left) == 1 else 'them'} in first."
        )
    return " ".join(said)


def _count(blanks: list[Blank]) -> str:
    return f"{len(blanks)} blank{'s' * (len(blanks) > 1)}"


def refuse_blanks(what: str, thing: Any) -> None:
    """Raises BlankLeft when `thing` still has blanks."""
    if blanks := blanks_of(thing):
        raise BlankLeft(blank_message(what, blanks)) from None


def report_blanks_in_jupyter() -> None:
    """In Jupyter, four kinds of NameError become one line; every other looks as always.

    A cell that runs into a blank says which; the name that it was to define is forgotten, so that no earlier answer
    stands in for it. A check, and any other cell as it was given, says what to run first where something is not defined yet.
    A letter without quotes, as the answer of a question, is told to be one. From now on it is also watched how the cells of exercises end.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return

    cells.watch(shell)

    def handler(shell, kind, error, tb, tb_offset=None):
        frame = traceback.extract_tb(tb)[-1]
        text, source = (frame.line or "").split("  #")[0].strip(), cells.source_of(frame.filename)
        exercise, in_cell = cells.exercise_of(source), frame.name == "<module>"
        name = text.partition(" = ")[0]
        if error.name == BLANK:
            where = f"in exercise {exercise}" if exercise else "to fill"
            message = f"A blank is left {where}: line {frame.lineno}, `{text}`."
            if in_cell:
                shell.user_ns.pop(name, None)
        elif exercise and in_cell and re.fullmatch(r"[a-zA-Z]", error.name or "") and text == f"{name} = {error.name}":
            message = f'Write the letter in quotes: {name} = "{error.name.lower()}".'
            shell.user_ns.pop(name, None)
        elif error.name and in_cell and (check := _CHECK.search(source)):
            message = cells.undefined(error.name, check[1])
        elif not exercise and (lesson := cells.lesson_of(source)) and (first := cells.definition(str(error.name), lesson)):
            message = first
        else:
            return shell.showtraceback((kind, error, tb), tb_offset=tb_offset)
        shell._showtraceback(BlankLeft, BlankLeft(message), [message])
        return [message]

    shell.set_custom_exc((NameError,), handler)
