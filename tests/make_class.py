"""A made-up class: `python tests/make_class.py --lesson 07_vector_add --students 500 --seed 1 class/submissions`.

    class/submissions/STUDENT/LESSON.ipynb                 one notebook a student
    class/submissions/STUDENT/2026-03-09/LESSON.ipynb      a second attempt of some, better than the first
    class/expected.json                                    notebook -> exercise -> whether it passes; null: it may

Each notebook is the student's copy with answers in it: those of the solution and of tests/answers, right and wrong.
About a third of the class has finished, most have got part of the way, some have not begun; a few hand in cells that
raise, and one in a hundred a cell that never ends, kills its process or prints without end. No two are alike, and the
same seed makes the same class.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from classroom import lesson as lessons  # noqa: E402
from classroom.derive import student_source  # noqa: E402
from classroom.submission import names, used_names  # noqa: E402

FIRST, SECOND = "2026-03-02", "2026-03-09"  # the days of the first and of a second attempt

# How many of a hundred students are of a kind, and with what chance each of their answers is right, wrong, or still blank
KINDS = {"finished": (33, (1, 0, 0)), "nearly": (27, (0.8, 0.2, 0)), "part": (30, (0.7, 0.2, 0.1)), "blank": (10, (0, 0, 1))}
RAISING, SECOND_ATTEMPTS = 0.04, 0.06  # the shares of students
ONE_NASTY_IN = 100

RAISES = ["1 / 0", "def unfinished(:", "import a_module_that_nobody_has", "print(name_that_nobody_defined)"]
NASTY = ["while True:\n    pass", "import os\n\nos._exit(0)", "import sys\n\nsys.exit()", "while True:\n    print('again')"]


@dataclass(frozen=True)
class Choices:
    """What a student may write in an exercise."""

    blank: str
    right: list[str]
    wrong: list[str]


def make_class(out: Path, lesson: str, students: int, seed: int = 1, root: Path = ROOT, nasty: bool = True) -> dict[str, dict]:
    """Write a class into `out` and what to expect of it beside `out`; returns the latter.

    lesson: the name of a solved lesson under `root`, where tests/answers may hold answers to it. nasty: whether one in a hundred is.
    """
    solved = lessons.read(root / "solutions" / f"{lesson}.ipynb")
    copy = nbformat.read(root / "notebooks" / f"{lesson}.ipynb", as_version=4)
    answers = root / "tests" / "answers" / lesson
    choices = {id_: _choices(solved, id_, answers / id_) for id_ in solved.exercises}
    uses = _uses(solved)
    random_ = random.Random(f"{seed} {lesson}")
    kinds = random_.choices(list(KINDS), [share for share, _ in KINDS.values()], k=students)
    expected = {}
    for number, kind in enumerate(kinds):
        student = f"student-{number:04}"
        verdicts = _verdicts(list(choices), kind, random_)
        attempts = [(student, FIRST, verdicts)]
        if random_.random() < SECOND_ATTEMPTS:
            better = {id_: "right" if random_.random() < 0.5 else verdict for id_, verdict in verdicts.items()}
            attempts.append((f"{student}/{SECOND}", SECOND, better))
        raising = random_.choice(list(choices)) if random_.random() < RAISING else None
        nasty_one = nasty and number % ONE_NASTY_IN == ONE_NASTY_IN // 2
        for folder, day, verdicts in attempts:
            if raising:
                verdicts = {**verdicts, raising: random_.choice(RAISES)}
            if nasty_one:
                verdicts = {**verdicts, random_.choice(list(choices)): NASTY[number // ONE_NASTY_IN % len(NASTY)]}
            name = f"{folder}/{lesson}.ipynb"
            _write(out / name, copy, {id_: _text(choices[id_], verdict, random_) for id_, verdict in verdicts.items()}, day)
            expected[name] = {id_: _passes(id_, verdicts, uses) for id_ in verdicts}
    lessons.write_if_changed(out.parent / "expected.json", json.dumps(expected, indent=1) + "\n")
    return expected


def _choices(solved: lessons.Lesson, id_: str, answers: Path) -> Choices:
    source = solved.exercises[id_].answer.source
    found = {kind: sorted(answers.glob(f"{kind}_*.py")) for kind in ("right", "wrong")}
    texts = {kind: [_without_comments_on_top(path.read_text(encoding="utf-8")) for path in found[kind]] for kind in found}
    return Choices(student_source(source), [source] * 3 + texts["right"], texts["wrong"] or [f"# Exercise {id_}\n1 / 0"])


def _without_comments_on_top(text: str) -> str:
    """An answer from its line `# Exercise 7.1` on: what stands above is for its test."""
    lines = text.rstrip().split("\n")
    first = next((number for number, line in enumerate(lines) if lessons.marked_exercise(line)), 0)
    return "\n".join(lines[first:])


def _uses(solved: lessons.Lesson) -> dict[str, set[str]]:
    """For each exercise, the other ones whose names its answer or its checks use: if they fail, it may."""
    wanted = {id_: names(exercise.answer.source) for id_, exercise in solved.exercises.items()}
    uses = {}
    for id_, exercise in solved.exercises.items():
        used = set().union(*(used_names(cell.source) for cell in (exercise.answer, exercise.check, exercise.hidden)))
        uses[id_] = {other for other in wanted if other != id_ and wanted[other] & used}
    return uses


def _verdicts(exercises: list[str], kind: str, random_: random.Random) -> dict[str, str]:
    """What a student makes of each exercise: right, wrong or blank. Who gets part of the way leaves the rest blank."""
    end = random_.randrange(1, len(exercises)) if kind == "part" else len(exercises)
    drawn = random_.choices(["right", "wrong", "blank"], KINDS[kind][1], k=len(exercises))
    return {id_: verdict if number < end else "blank" for number, (id_, verdict) in enumerate(zip(exercises, drawn))}


def _text(choices: Choices, verdict: str, random_: random.Random) -> str:
    """The text of an answer. `verdict` is right, wrong, blank, or a text of its own, for the end of the cell."""
    if verdict == "blank":
        return choices.blank
    if verdict not in ("right", "wrong"):
        return f"{choices.blank.splitlines()[0]}\n{verdict}\n"
    return _signed(random_.choice(choices.right if verdict == "right" else choices.wrong), random_)


def _signed(source: str, random_: random.Random) -> str:
    """The same answer with a comment in each function, so that no two students' kernels have the same text."""
    try:
        functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    except SyntaxError:
        return source
    lines = source.split("\n")
    for function in sorted(functions, key=lambda node: -node.body[0].lineno):
        first = function.body[0]
        if first.lineno > function.lineno:
            lines.insert(first.lineno - 1, f"{' ' * first.col_offset}# my note {random_.randrange(10**6)}")
    return "\n".join(lines)


def _passes(id_: str, verdicts: dict[str, str], uses: dict[str, set[str]]) -> bool | None:
    if verdicts[id_] != "right":
        return False
    reached, waiting = set(), set(uses[id_])
    while waiting:
        other = waiting.pop()
        if other not in reached:
            reached.add(other)
            waiting |= uses[other]
    return True if all(verdicts[other] == "right" for other in reached) else None


def _write(path: Path, copy: nbformat.NotebookNode, answers: dict[str, str], day: str) -> None:
    """The student's copy with answers in it, last written to on `day`."""
    notebook = nbformat.from_dict(copy)
    for cell in notebook.cells:
        kind, id_ = lessons.role(cell)
        if kind == lessons.EXERCISE:
            cell.source = answers[id_]
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    seconds = datetime.datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp()
    os.utime(path, (seconds, seconds))


def differences(expected: dict[str, dict], graded: dict[str, dict]) -> list[str]:
    """One line for each verdict that is not the expected one; `graded` has the same form, without null."""
    lines = [f"{name}: not graded" for name in expected if name not in graded]
    for name, verdicts in graded.items():
        for id_, passed in verdicts.items():
            wanted = expected[name][id_]
            if wanted is not None and passed != wanted:
                lines.append(f"{name}: {id_} {'passes' if passed else 'fails'}, and should not")
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write a made-up class, and what to expect of it beside the folder.")
    parser.add_argument("out", type=Path, metavar="OUT", help="a new folder, for one folder a student")
    parser.add_argument("--lesson", default="07_vector_add")
    parser.add_argument("--students", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    expected = make_class(options.out, options.lesson, options.students, options.seed)
    passed = sum(verdict is True for verdicts in expected.values() for verdict in verdicts.values())
    total = sum(len(verdicts) for verdicts in expected.values())
    print(
        f"{len(expected)} notebooks of {options.students} students in {options.out}; {passed / total:.0%} of the answers are right"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
