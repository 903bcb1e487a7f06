"""The cells of a notebook: which exercise each holds, and how its last run ended.

An exercise's cell begins with `# Exercise 5.1`. When its last run failed, or no longer defined the function that the check is
given, the check would judge an older version; so it is refused. Without Jupyter nothing is watched, and nothing refused.
"""

from __future__ import annotations

import functools
import json
import linecache
import re
from collections.abc import Iterable
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

_EXERCISE = re.compile(r"\s*# Exercise (\d+\.\w+)\s*$", re.MULTILINE)
NOTEBOOKS = Path(__file__).parent.parent / "notebooks"


class Run(NamedTuple):
    """The last run of an exercise's cell: its source, and whether it succeeded."""

    source: str
    succeeded: bool


RUNS: dict[str, Run] = {}
"""The last run of each exercise's cell in this Jupyter kernel."""


def exercise_of(source: str) -> str | None:
    """ "5.1" for the source of a cell whose first line is `# Exercise 5.1`, else None."""
    found = _EXERCISE.match(source)
    return found[1] if found else None


def source_of(file: str) -> str:
    """The source of a cell (or file), given the file name in a code object; empty where it is not known."""
    return "".join(linecache.getlines(file)).strip()


def watch(shell: Any) -> None:
    """Remember how the cells of exercises end, from now on. shell: IPython's."""

    def after(result: Any) -> None:
        typed = getattr(getattr(result, "info", None), "raw_cell", "") or ""
        if exercise := exercise_of(typed):
            try:
                ran = shell.transform_cell(typed)  # `%time f(x)`, and lines of spaces, are not what Python compiles
            except SyntaxError:
                ran = typed
            RUNS[exercise] = Run(ran.strip(), result.success)

    shell.events.register("post_run_cell", after)


def stale(exercise: str, functions: Iterable[FunctionType] = ()) -> str:
    """Why a check would judge an older version of what these functions, or the exercise, are; empty when it would not.

    functions: the answer and those that it calls; each that comes from the cell of an exercise must come from its last run.
    """
    owners: dict[str, set[str]] = {exercise: set()}
    names: dict[str, str] = {}
    for function in functions:
        source = source_of(function.__code__.co_filename)
        if owner := exercise_of(source):
            owners.setdefault(owner, set()).add(source)
            names.setdefault(owner, function.__name__)
    for owner, sources in owners.items():
        last = RUNS.get(owner)
        if last is None or last.source in sources:
            continue
        if not last.succeeded:
            return f"The last run of exercise {owner}'s cell failed; the check would judge an older version. Run it again first."
        if sources:
            return (
                f"The last run of exercise {owner}'s cell did not define `{names[owner]}`; the check would judge an older version. "
                "Give the function its name back, and run the cell again first."
            )
    return ""


def undefined(name: str, lesson: str) -> str:
    """What to run first where a name is not defined. lesson: number of the lesson ("5")."""
    return definition(name, lesson) or f"There is no `{name}` yet: fill in the exercise above, and run its cell first."


def definition(name: str, lesson: str) -> str:
    """Which cell of a lesson must run before a name is defined, as a sentence; empty where no cell defines it."""
    for source in _cells(lesson):
        if re.search(rf"^(?:(?:def|class) {name}\b|{name} = )", source, re.MULTILINE):
            if exercise := exercise_of(source):
                return f"There is no `{name}` yet: fill in exercise {exercise}, and run its cell first."
            return f"There is no `{name}` yet: run the cell above that defines it first."
    return ""


def lesson_of(source: str) -> str:
    """The number of the lesson ("5") whose student's copy has this cell, unchanged; empty where none has."""
    numbers = (str(int(file.name[:2])) for file in sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb")))
    return next((lesson for lesson in numbers if source in map(str.strip, _cells(lesson))), "")


@functools.cache
def _cells(lesson: str) -> tuple[str, ...]:
    """The sources of the code cells in the student's copy of a lesson; none where there is no such file."""
    for file in NOTEBOOKS.glob(f"{int(lesson):02d}_*.ipynb" if lesson else ""):
        try:
            cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
            return tuple("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        except (OSError, ValueError, KeyError):
            continue
    return ()
