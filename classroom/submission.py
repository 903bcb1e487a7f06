"""A student's notebook read as answers: of everything in it, only what the student was asked to write counts.

Where a cell belongs is found out, in this order, from

1. its first line, the comment `# Exercise 5.3`, or nbgrader's `grade_id`, the cell's tags, the cell's id;
2. the cell above: a cell that begins with indented code, or that defines what the exercise must still define,
   continues an answer that was split;
3. the names that it defines, for an exercise that has no cell by the first two rules; where several exercises define
   the name (`answer`), the one whose check comes next.

An exercise in several cells is their text in the notebook's order; a copy that is still blank is left out where
another one is filled in. Of the student's other cells the definitions, imports and assignments are kept: they run
before the exercise that follows, or after it when they stand between an exercise and its check. Outputs, check
cells, given cells, tags and everything else are taken from the solution.
"""

from __future__ import annotations

import ast
import functools
import re
import symtable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from classroom.derive import blanks, student_source
from classroom.lesson import CHECK, EXERCISE, HIDDEN, Lesson, from_dashed, marked_exercise, role

MAX_BYTES = 50_000_000  # of the file, outputs included
MAX_TEXT = 1_000_000  # characters of all cells together
MAX_CELLS = 5_000

_ID_IN_CALL = re.compile(r"""\b\w+\(\s*["'](\d+\.c?\d+[a-z]?)["']""")
_KEPT = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)


class Unreadable(ValueError):
    """A file that is no notebook; the message is for the student."""


@dataclass
class Answer:
    """One exercise as the student left it. `source` is None where its cell is missing; `problem` then says more."""

    source: str | None = None
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    problem: str = "its cell is missing from the notebook"


def read_answers(path: Path, lesson: Lesson) -> dict[str, Answer]:
    """The answers in a student's notebook, one for every exercise of the lesson. Raises Unreadable."""
    return Submission(_read(path), lesson).answers()


def _read(path: Path) -> NotebookNode:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise Unreadable(f"the file is larger than {MAX_BYTES // 1_000_000} MB; clear its outputs and save it again")
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        sources = [cell.source for cell in notebook.cells if cell.cell_type and isinstance(cell.metadata, dict)]
        if not all(isinstance(source, str) for source in sources):
            raise ValueError("a cell without text")
        "".join(sources).encode()  # half of a character, "\\ud800", can be sent to no kernel
        if sum(map(len, sources)) > MAX_TEXT or len(sources) > MAX_CELLS:
            raise Unreadable(
                f"its cells hold more than {MAX_TEXT // 1_000_000} MB of text, or are more than {MAX_CELLS:,}; "
                "start from a new copy of the lesson, and keep your answers alone"
            )
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(f"the file is not a notebook ({type(error).__name__}); open it in Jupyter and save it again") from None
    return notebook


class Submission:
    """A student's notebook beside the lesson it answers."""

    def __init__(self, notebook: NotebookNode, lesson: Lesson):
        names.cache_clear()  # it need not hold the texts of more than one notebook
        self.cells = [cell for cell in notebook.cells if cell.cell_type != "raw"]
        self.lesson = lesson
        self.blank = {id_: student_source(exercise.answer.source) for id_, exercise in lesson.exercises.items()}
        self.wanted = {id_: names(exercise.answer.source) for id_, exercise in lesson.exercises.items()}
        given = [cell.source for cell in lesson.notebook.cells if cell.cell_type == "code" and role(cell)[0] is None]
        self.given = {_normal(source) for source in given}
        self.given_statements = {ast.dump(node) for source in given for node in statements(source)}
        self.checks = {_normal(exercise.check.source): id_ for id_, exercise in lesson.exercises.items()}

    def answers(self) -> dict[str, Answer]:
        """One answer for every exercise."""
        places = self._places()
        found = {id_: Answer() for id_ in self.lesson.exercises}
        for id_, answer in found.items():
            parts = [
                cell.source
                for cell, place in zip(self.cells, places, strict=True)
                if place == (EXERCISE, id_) and cell.cell_type == "code"
            ]
            if parts:
                answer.source = _joined(parts)
            elif (EXERCISE, id_) in places:
                answer.problem = "its cell is a Markdown cell; turn it back into a code cell"
        self._attach_helpers(places, found)
        return found

    def _places(self) -> list[tuple[str, str | None] | None]:
        """For each cell what it is: ("exercise", id), ("check", id), ("given", None), or None for the student's own."""
        places = [self._claimed(cell) for cell in self.cells]
        self._find_continuations(places)
        for id_ in self.lesson.exercises:
            if not any(
                place == (EXERCISE, id_) and self._filled(cell.source, id_)
                for cell, place in zip(self.cells, places, strict=True)
            ):
                self._find_by_names(id_, places)
        return places

    def _claimed(self, cell: NotebookNode) -> tuple[str, str | None] | None:
        marked = marked_exercise(cell.source) if cell.cell_type == "code" else None  # a heading may read the same
        if marked in self.lesson.exercises:
            return EXERCISE, marked
        kind, id_ = _role(cell)
        if id_ in self.lesson.exercises:
            return (EXERCISE if kind == EXERCISE else CHECK), id_
        if cell.cell_type != "code" or _normal(cell.source) in self.given:
            return "given", None
        if _normal(cell.source) in self.checks:
            return CHECK, self.checks[_normal(cell.source)]
        called = _ID_IN_CALL.match(cell.source.strip())
        return (CHECK, called[1]) if called and called[1] in self.lesson.exercises else None

    def _filled(self, source: str, id_: str) -> bool:
        return bool(source.strip()) and not blanks(source) and _normal(source) != _normal(self.blank[id_])

    def _find_continuations(self, places: list) -> None:
        """Marks the later parts of an answer that was split into cells without metadata."""
        open_, defined = None, set()
        for index, cell in enumerate(self.cells):
            place = places[index]
            if place is None and open_ and cell.cell_type == "code":
                missing = (self.wanted[open_] - defined) & names(cell.source)
                if missing or cell.source.lstrip("\n").startswith((" ", "\t")):
                    places[index] = place = (EXERCISE, open_)
            if place and place[0] == EXERCISE:
                open_, defined = place[1], (defined if place[1] == open_ else set()) | names(cell.source)
            elif place and place != ("given", None):
                open_, defined = None, set()

    def _find_by_names(self, id_: str, places: list) -> None:
        """Marks the unclaimed cells that define what exercise `id_` must define."""
        shared = set().union(*(wanted for other, wanted in self.wanted.items() if other != id_))
        for index, cell in enumerate(self.cells):
            if places[index] is not None:
                continue
            hits = names(cell.source) & self.wanted[id_]
            if not hits:
                continue
            next_check = next((place[1] for place in places[index:] if place and place[0] == CHECK), None)
            if hits - shared or (hits and next_check == id_):
                places[index] = (EXERCISE, id_)

    def _attach_helpers(self, places: list, found: dict[str, Answer]) -> None:
        """Gives each answer the definitions that the student put into cells of their own."""
        waiting, open_ = [], None
        for cell, place in zip(self.cells, places, strict=True):
            if place is None:
                helpers = [text for text, dump in definitions(cell.source) if dump not in self.given_statements]
                (found[open_].after if open_ else waiting).extend(helpers)
            elif place[0] == EXERCISE:
                found[place[1]].before += waiting
                waiting, open_ = [], place[1]
            elif place[0] == CHECK:
                open_ = None


def _role(cell: NotebookNode) -> tuple[str | None, str | None]:
    """The role of a student's cell, from whatever is left of its metadata."""
    nbgrader = cell.metadata.get("nbgrader")
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    for found in (from_dashed(str(grade_id)), role(cell), from_dashed(str(cell.get("id", "")))):
        if found[0] in (EXERCISE, CHECK, HIDDEN):
            return found
    return None, None


def _joined(parts: list[str]) -> str:
    """The parts of an answer as one text, without copies that are still blank."""
    parts = list(dict.fromkeys(parts))
    filled = set().union(*(names(part) for part in parts if not blanks(part)), set())
    return "\n".join(part for part in parts if not blanks(part) or not names(part) or not names(part) <= filled)


def _normal(source: str) -> str:
    """A text without the white space that editors change."""
    return "\n".join(line.rstrip() for line in source.strip().split("\n"))


def is_untouched(source: str, blank: str) -> bool:
    """Whether an answer is still what the student was given."""
    return _normal(source) == _normal(blank) or not source.strip()


def statements(source: str) -> list[ast.stmt]:
    """The statements of a cell, magic commands left out; none where it is not Python."""
    code = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n"))
    try:
        return ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


@functools.lru_cache(maxsize=MAX_CELLS)
def names(source: str) -> frozenset[str]:
    """The names that a cell defines at its top level: functions and classes, or variables where there are none."""
    body = statements(source)
    defined = {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    targets += [node.target for node in body if isinstance(node, ast.AnnAssign)]
    return frozenset(defined or (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)))


def used_names(source: str) -> frozenset[str]:
    """The names that a cell uses and does not define, those that it expects from the cells before; none without a parse."""
    read, assigned = read_and_assigned(source)
    return read - assigned


@functools.lru_cache(maxsize=MAX_CELLS)
def read_and_assigned(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names of its own level that a cell reads, in functions too, and those that it assigns or imports; none without a parse."""
    try:
        table = symtable.symtable(ast.unparse(ast.Module(statements(source), [])), "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(), frozenset()
    read, waiting = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}, table.get_children()
    while waiting:
        scope = waiting.pop()
        read |= {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global() and symbol.is_referenced()}
        waiting += scope.get_children()
    return frozenset(read), frozenset(s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported())


def defined_functions(source: str) -> dict[str, frozenset[str]]:
    """The functions at the top level of a cell, with the names that each of them reads."""
    functions = [node for node in statements(source) if isinstance(node, ast.FunctionDef)]
    return {function.name: used_names(ast.unparse(function)) for function in functions}


def _form(node: ast.stmt, text: str) -> str:
    """A statement in a form that ignores layout, or its text where it is nested too deeply for one."""
    try:
        return ast.dump(node)
    except RecursionError:
        return text


def definitions(source: str, kinds: tuple[type[ast.stmt], ...] = _KEPT) -> list[tuple[str, str]]:
    """The definitions, imports and assignments of a cell: their text, and a form that ignores layout.

    kinds: of statements, where others are wanted.
    """
    lines, found, done = source.split("\n"), [], 0
    for node in statements(source):
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
        if isinstance(node, kinds) and first > done:
            text = "\n".join(lines[first - 1 : node.end_lineno])
            found.append((text, _form(node, text)))
        done = node.end_lineno
    return found
