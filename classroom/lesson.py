"""A lesson notebook read as exercises, each with its answer cell, its check and its hidden check.

The source of a lesson is `solutions/NN_name.ipynb`. Its cells are marked with tags (see CONTRIBUTING):

    exercise-5.3        the answer; blanked in the student's copy; its first line is the comment `# Exercise 5.3`
    check-5.3           the visible check
    hidden-check-5.3    left out of the student's copy, put back for grading
    points-2            beside a check tag; an exercise without it is worth 1 point
    gpu                 needs a GPU; elsewhere it is run and not compared
    nbval-ignore-output figures: run and not compared
    solution-output     its output would give an answer away: folded on the book's page, left out of the class edition

`read` refuses a notebook that breaks these rules, and says which cell and what to do.
"""

from __future__ import annotations

import functools
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

SOLUTIONS = "solutions"
NOTEBOOKS = "notebooks"
EXERCISE, CHECK, HIDDEN = "exercise", "check", "hidden-check"

_ID = r"\d+\.c?\d+[a-z]?"
_ROLE = re.compile(rf"^({EXERCISE}|{CHECK}|{HIDDEN})-({_ID})$")
_DASHED = re.compile(rf"^({EXERCISE}|{CHECK}|{HIDDEN})-(\d+)-(c?\d+[a-z]?)$")
_POINTS = re.compile(r"^points-([1-9]\d*)$")
_MARKER = re.compile(rf"^\s*#+\s*exercise\s+({_ID})(?![\w.])", re.IGNORECASE)
_NUMBER = re.compile(r"^(\d+)_")
_COPY = re.compile(r"(\s*\(\d+\)|[-_ ][Cc]opy\d*)+$")

OTHER_TAGS = {"gpu", "nbval-ignore-output", "solution-output"}
BOOK_TAGS = {f"{verb}-{part}" for verb in ("hide", "remove") for part in ("cell", "input", "output")} | {"full-width", "margin"}


class LessonError(ValueError):
    """A lesson, a course folder or a command that cannot be used as it is; the message says what to do."""


@dataclass
class Exercise:
    """One exercise of a lesson: its cells, in the solution's notebook."""

    id: str
    answer: NotebookNode
    check: NotebookNode
    hidden: NotebookNode
    points: int


@dataclass
class Lesson:
    """A solved lesson. `exercises` maps ids such as "5.3" to exercises, in the notebook's order."""

    path: Path
    notebook: NotebookNode
    exercises: dict[str, Exercise] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def points(self) -> int:
        return sum(exercise.points for exercise in self.exercises.values())

    @property
    def hidden_lines(self) -> list[str]:
        """The lines of hidden checks and of their outputs that nobody but the grader may read."""
        return [line.strip() for exercise in self.exercises.values() for line in _hidden_text(exercise.hidden).splitlines()]


def _hidden_text(cell: NotebookNode) -> str:
    return "\n".join([cell.source, *(output.get("text", "") for output in cell.get("outputs", []))])


def tags(cell: NotebookNode) -> list[str]:
    """The tags of a cell; none where the metadata is not what it should be (a student's notebook may hold anything)."""
    found = cell.metadata.get("tags", []) if isinstance(cell.metadata, dict) else []
    return [tag for tag in found if isinstance(tag, str)] if isinstance(found, list) else []


def role(cell: NotebookNode) -> tuple[str | None, str | None]:
    """("exercise" | "check" | "hidden-check", "5.3") from a cell's tags, or (None, None)."""
    for tag in tags(cell):
        if match := _ROLE.match(tag):
            return match[1], match[2]
    return None, None


def dashed(kind: str, exercise: str) -> str:
    """The form of a role in places that allow no dots (cell ids, nbgrader's grade_id): ("check", "5.3") -> "check-5-3"."""
    return f"{kind}-{exercise}".replace(".", "-")


def from_dashed(text: str) -> tuple[str | None, str | None]:
    """The inverse of `dashed`; (None, None) for any other text."""
    match = _DASHED.match(text)
    return (match[1], f"{match[2]}.{match[3]}") if match else (None, None)


def marked_exercise(source: str) -> str | None:
    """The id in the comment `# Exercise 5.3` that opens an exercise cell, or None."""
    match = _MARKER.match(source.lstrip("\n"))
    return match[1] if match else None


def sort_key(exercise: str) -> tuple[int, bool, int, str]:
    """Orders ids as a reader does: 5.2 before 5.10, exercises before concept questions."""
    chapter, rest = exercise.split(".")
    number = re.sub(r"\D", "", rest)
    return int(chapter), rest.startswith("c"), int(number), rest


def read(path: Path) -> Lesson:
    """Read a solved lesson and check its tags. Raises LessonError."""
    try:
        notebook = nbformat.read(path, as_version=4)
    except Exception as error:
        raise LessonError(f"{path}: this is not a notebook ({type(error).__name__}). Restore the file from git.") from error
    return parse(notebook, path)


def read_once(path: Path) -> Lesson:
    """As `read`, and the same lesson again while the file is unchanged: for those who leave its notebook as it is."""
    status = path.stat()
    return _read_once(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=100)
def _read_once(path: Path, mtime_ns: int, size: int) -> Lesson:
    return read(path)


def parse(notebook: NotebookNode, path: Path) -> Lesson:
    """A lesson from a notebook already read; `path` is where it lies, for the name and for messages. Raises LessonError."""
    cells: dict[tuple[str, str], tuple[int, NotebookNode]] = {}
    for number, cell in enumerate(notebook.cells):
        where = f"{path}, cell {number + 1}"
        kind, exercise = _checked_role(cell, where, path.stem)
        if kind is None:
            continue
        if (kind, exercise) in cells:
            first = cells[kind, exercise][0] + 1
            raise LessonError(f"{where}: cell {first} already has the tag {kind}-{exercise}. Give one of them another number.")
        cells[kind, exercise] = number, cell
    lesson = Lesson(path, notebook)
    for kind, exercise in cells:
        if kind == EXERCISE:
            lesson.exercises[exercise] = _exercise(exercise, cells, path)
        elif (EXERCISE, exercise) not in cells:
            raise LessonError(
                f"{path}: there is a {kind}-{exercise} and no cell with the tag exercise-{exercise}. Add it, or fix the number."
            )
    return lesson


def _checked_role(cell: NotebookNode, where: str, name: str) -> tuple[str | None, str | None]:
    """The role of a cell whose tags are all valid. Raises LessonError."""
    roles = [match.groups() for tag in tags(cell) if (match := _ROLE.match(tag))]
    points = [tag for tag in tags(cell) if _POINTS.match(tag)]
    for tag in tags(cell):
        if not _ROLE.match(tag) and not _POINTS.match(tag) and tag not in OTHER_TAGS | BOOK_TAGS:
            raise LessonError(f"{where}: the tag {tag!r} means nothing here. Use one of {_tag_list()}.")
    if len(roles) > 1:
        raise LessonError(f"{where}: the tags {' and '.join('-'.join(r) for r in roles)} exclude each other. Keep one.")
    kind, exercise = roles[0] if roles else (None, None)
    if points and (kind != CHECK or len(points) > 1):
        raise LessonError(f"{where}: {', '.join(points)}: one points tag, and only beside a check tag. Move or remove it.")
    if kind is None:
        return None, None
    if cell.cell_type != "code":
        raise LessonError(f"{where}: {kind}-{exercise} stands on a {cell.cell_type} cell. Make it a code cell.")
    chapter = _NUMBER.match(name)
    if chapter and int(chapter[1]) != int(exercise.split(".")[0]):
        raise LessonError(f"{where}: {kind}-{exercise} is not of lesson {int(chapter[1])}. Fix the number in the tag.")
    if kind == EXERCISE and marked_exercise(cell.source) != exercise:
        raise LessonError(
            f"{where}: write `# Exercise {exercise}` as the first line of this cell; it finds the answer when tags are lost."
        )
    return kind, exercise


def _tag_list() -> str:
    return (
        ", ".join(["exercise-5.3", "check-5.3", "hidden-check-5.3", "points-2", *sorted(OTHER_TAGS)])
        + " or a page tag such as hide-input"
    )


def _exercise(exercise: str, cells: dict, path: Path) -> Exercise:
    """The exercise with its three cells, in the right order. Raises LessonError."""
    for kind in (CHECK, HIDDEN):
        if (kind, exercise) not in cells:
            raise LessonError(
                f"{path}: exercise {exercise} has no cell with the tag {kind}-{exercise}. Add one below its answer."
            )
    (a, answer), (c, check), (h, hidden) = (cells[kind, exercise] for kind in (EXERCISE, CHECK, HIDDEN))
    if not a < c < h:
        raise LessonError(
            f"{path}: exercise {exercise}: the order must be answer, check, hidden check; it is cells {a + 1}, {c + 1}, {h + 1}."
        )
    points = next((int(match[1]) for tag in tags(check) if (match := _POINTS.match(tag))), 1)
    return Exercise(exercise, answer, check, hidden, points)


def find_root(start: Path | None = None) -> Path:
    """The course's folder (it holds `solutions/`): the nearest one above `start` (default: here), else the installed one."""
    start = Path(start or Path.cwd()).resolve()
    for folder in (start, *start.parents, Path(__file__).resolve().parent.parent):
        if (folder / SOLUTIONS).is_dir():
            return folder
    raise LessonError(f"No course here: neither {start} nor a folder above it holds {SOLUTIONS}/. Run this inside the course.")


def lesson_paths(root: Path, names: list[str] | None = None) -> list[Path]:
    """The solved lessons under `root`, or those that `names` begin: "05", "05_online_softmax", a path. Raises LessonError."""
    paths = sorted((root / SOLUTIONS).glob("[!.]*.ipynb"))
    if not names:
        return paths
    chosen = []
    for name in names:
        found = [path for path in paths if path.stem == Path(name).stem] or [
            path for path in paths if path.stem.startswith(f"{name}_")
        ]
        if not found:
            raise LessonError(
                f"No lesson is called {name}. The lessons are: {', '.join(path.stem for path in paths) or 'none yet'}."
            )
        chosen += found
    return chosen


def reference_of(notebook: Path, solutions: Path | None = None) -> Path | None:
    """The solved lesson that a student's notebook belongs to, or None.

    Looked up by file name in `solutions` where it is given; otherwise in the folder beside the notebook's own
    (course/notebooks/x.ipynb -> course/solutions/x.ipynb), then in the installed course. A downloaded
    `05_online_softmax (1).ipynb` counts as `05_online_softmax.ipynb`.
    """
    notebook = notebook.absolute()
    installed = Path(__file__).resolve().parent.parent / SOLUTIONS
    folders = [solutions] if solutions else [notebook.parent.parent / SOLUTIONS, installed]
    for folder in folders:
        for stem in (notebook.stem, _COPY.sub("", notebook.stem)):
            if (folder / f"{stem}.ipynb").is_file():
                return folder / f"{stem}.ipynb"
    return None


def write_if_changed(path: Path, text: str) -> bool:
    """Write a file in one step (a reader sees the old or the new one, never half); False when it already holds `text`."""
    data = text.encode()
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return True
