"""Submissions that attack the grader, and honest ones that look as bad: all graded in one go, by the public command.

tests/hostile/KIND.py is what a student wrote into the cell of one exercise. Its head says `# exercise:` which,
`# expects:` words of the message (` | ` for or), `# others: pass` where the other exercises of that notebook pass (`any`: where they may
not), `# needs: sandbox` where only bubblewrap protects; then what it tries. `# %% before`, `# %% answer` and `# %% after`
begin cells of their own. Those of lesson 7 attack kernels: several stand in one notebook, each in its own exercise.
untidy_KIND.py must get all points. Notebooks that are no notebooks, and names that are no names, are made below.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from classroom.lesson import read, role
from classroom.sandbox import sandbox_problem

ROOT = Path(__file__).resolve().parent.parent
NAME, KERNELS = "05_hostile", "07_vector_add"
CELL_SECONDS, SECONDS = 6, 60
PR_SET_CHILD_SUBREAPER = 36

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are confined on Linux alone")

GIVEN = """
import numpy as np

from tiles import check, fingerprint
from tiles.cases import rows
"""
ANSWERS = {
    "5.1": "def shifted(x):\n    return x - x.max()  # ______ zero at the largest element",
    "5.2": "def doubled(x):\n    return 2 * x  # ______ twice x",
    "5.3": """
def block_max(x, block_size):
    m = -np.inf
    for start in range(0, len(x), block_size):
        m = max(m, np.max(x[start : start + block_size]))  # ______ the largest so far
    return m""",
}
CHECKS = {
    "5.1": """
def shifted_reference(x):
    return x - x.max()


check("5.1", shifted, against=shifted_reference, cases=rows(1, 3, 4, 9, kinds=("normal", "falling")))""",
    "5.2": 'check("5.2", doubled, against=lambda x: 2 * x, cases=rows(1, 5))',
    "5.3": "cases = rows(1, 7, 8, 21, block_size=4)\n"
    'check("5.3", block_max, against=lambda x, block_size: x.max(), cases=cases, moves=lambda n, block_size: n)',
}
HIDDEN = {
    "5.1": 'hidden_row = np.arange(17.0) * 5 % 23\nprint(fingerprint(shifted(hidden_row)), "of a hidden row")',
    "5.2": 'print(fingerprint(doubled(np.arange(9.0) - 4)), "of another hidden row")',
    "5.3": 'print(fingerprint(block_max(np.arange(23.0) * 7 % 29, 4)), "of hidden blocks")',
}


@dataclass(frozen=True)
class Kind:
    """One file of tests/hostile."""

    name: str
    exercise: str
    expects: tuple[str, ...]
    others: str
    needs_sandbox: bool
    cells: dict[str, list[str]]  # "before", "answer" and "after" the answer's cell

    @property
    def lesson(self) -> str:
        return KERNELS if self.exercise.startswith("7.") else NAME


def kind(path: Path) -> Kind:
    text = path.read_text(encoding="utf-8")
    head = dict(re.findall(r"^# (exercise|others|needs): (.*)$", text, re.MULTILINE))
    expects = tuple(re.findall(r"^# expects: (.*)$", text, re.MULTILINE))
    cells: dict[str, list[str]] = {"before": [], "answer": [], "after": []}
    for part in re.split(r"^(?=# %% )", text, flags=re.MULTILINE):
        place = re.match(r"# %% (\w+)\n", part)
        cells[place[1] if place else "answer"].append(part[place.end() :] if place else part)
    if len(cells["answer"]) > 1:  # the head alone
        cells["answer"].pop(0)
    return Kind(path.stem, head["exercise"], expects, head.get("others", "pass"), "needs" in head, cells)


FILES = [kind(path) for path in sorted((Path(__file__).parent / "hostile").glob("*.py"))]
UNTIDY = [one for one in FILES if one.name.startswith("untidy_")]
KINDS = [one for one in FILES if one not in UNTIDY and not (one.needs_sandbox and sandbox_problem())]


# What is handed in


def lesson_notebook() -> nbformat.NotebookNode:
    """The small lesson of most attacks, without outputs."""
    v4 = nbformat.v4
    cells = [v4.new_code_cell(GIVEN.strip())]
    for exercise, source in ANSWERS.items():
        tags = {"check": [f"check-{exercise}", *(["points-2"] if exercise == "5.1" else [])]}
        cells.append(v4.new_code_cell(f"# Exercise {exercise}\n{source.strip()}", metadata={"tags": [f"exercise-{exercise}"]}))
        cells.append(v4.new_code_cell(CHECKS[exercise].strip(), metadata={"tags": tags["check"]}))
        cells.append(v4.new_code_cell(HIDDEN[exercise], metadata={"tags": [f"hidden-check-{exercise}"]}))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return v4.new_notebook(cells=cells)


def make_course(root: Path) -> None:
    """Both lessons in root/solutions: the small one is executed here, that of kernels is the course's own."""
    notebook, names = lesson_notebook(), {}
    for cell in notebook.cells:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(cell.source, names)
        cell.outputs = [nbformat.v4.new_output("stream", text=printed.getvalue())] if printed.getvalue() else []
    (root / "solutions").mkdir(parents=True)
    nbformat.write(notebook, root / "solutions" / f"{NAME}.ipynb")
    (root / "solutions" / f"{KERNELS}.ipynb").write_bytes((ROOT / "solutions" / f"{KERNELS}.ipynb").read_bytes())


def handed_in(course: Path, lesson: str, *kinds: Kind) -> nbformat.NotebookNode:
    """A notebook with right answers, but for the exercises of `kinds`."""
    notebook = copy.deepcopy(read(course / "solutions" / f"{lesson}.ipynb").notebook)
    notebook.cells = [cell for cell in notebook.cells if role(cell)[0] != "hidden-check"]
    for one in kinds:
        index = next(i for i, cell in enumerate(notebook.cells) if role(cell) == ("exercise", one.exercise))
        texts = {place: [fill(text, course) for text in texts] for place, texts in one.cells.items()}
        notebook.cells[index].source = f"# Exercise {one.exercise}\n" + "\n".join(texts["answer"])
        other = {place: [nbformat.v4.new_code_cell(text) for text in texts[place]] for place in ("before", "after")}
        notebook.cells[index : index + 1] = [*other["before"], notebook.cells[index], *other["after"]]
    return notebook


def fill(text: str, course: Path) -> str:
    return text.replace("@COURSE@", str(course)).replace("@HERE@", str(ROOT))


def packed() -> list[list[Kind]]:
    """What is about kernels, a notebook each list: no two of one exercise."""
    packs: list[list[Kind]] = []
    for one in [*KINDS, *UNTIDY]:
        if one.lesson == KERNELS:
            free = next((pack for pack in packs if one.exercise not in [other.exercise for other in pack]), None)
            packs.append([one]) if free is None else free.append(one)
    return packs


def malformed(right: nbformat.NotebookNode) -> dict[str, tuple[bytes | Path | None, str | None]]:
    """Files that are hardly notebooks: what they hold, and words of the message, or None where the points must be full."""
    text = nbformat.writes(right)

    def changed(change) -> bytes:
        notebook = json.loads(text)
        change(notebook)
        return json.dumps(notebook).encode()

    def every_cell(**entries):
        return changed(lambda notebook: [cell.update(entries) for cell in notebook["cells"]])

    nested = text.replace('"metadata": {}', '"metadata": ' + '{"a":' * 5000 + "1" + "}" * 5000, 1)
    many = changed(lambda notebook: notebook["cells"].extend([notebook["cells"][0]] * 6000))
    return {
        "empty": (b"", "not a notebook"),
        "brackets": (b"[" * 1_000_000, "not a notebook"),
        "objects": (b'{"a":' * 200_000, "not a notebook"),
        "nested_metadata": (nested.encode(), ""),
        "large_number": (text.replace('"nbformat": 4', '"nbformat": ' + "9" * 100_000).encode(), "not a notebook"),
        "endless_number": (text.replace('"nbformat": 4', '"nbformat": 1e999').encode(), "not a notebook"),
        "other_version": (text.replace('"nbformat": 4', '"nbformat": 3').encode(), ""),
        "nan_ids": (every_cell(id=float("nan")), ""),
        "same_ids": (every_cell(id="same"), None),
        "ids_that_are_objects": (every_cell(id={"a": []}), ""),
        "no_source": (changed(lambda notebook: notebook["cells"][1].pop("source")), "not a notebook"),
        "source_is_a_number": (every_cell(source=7), "not a notebook"),
        "metadata_is_a_list": (every_cell(metadata=[1]), ""),
        "tags_are_objects": (every_cell(metadata={"tags": {"exercise-5.1": 1}, "nbgrader": [], "jupyter": 5}), None),
        "cells_are_a_number": (changed(lambda notebook: notebook.update(cells=5)), "not a notebook"),
        "many_cells": (many, "5,000"),
        "half_a_character": (text.replace("twice", "\\ud800").encode(), "not a notebook"),
        "not_unicode": (b"\xff\xfe" + text.encode("utf-16-le"), "not a notebook"),
        "with_a_nul": (text.replace("# Exercise 5.2", "# Exercise 5.2\\u0000").encode(), ""),
        "link_to_a_solution": (None, "link"),
    }


NAMES = [  # of students' folders; the first two hold a right notebook, the others an empty file
    "two\nlines",
    "=HYPERLINK(1)",
    "-rf",
    "up..",
    "%2e%2e%2fup",
    "<script>alert(7)",
    "CON",
    "a" * 200,
    "\u202eright to left",
    "zoë",
    "back`tick $(touch hostile) ;",
]


def write_class(course: Path) -> dict[str, str]:
    """course/submissions; {student: lesson} of all that have to get all points."""
    folder = course / "submissions"

    def hand_in(student: str, lesson: str, notebook) -> None:
        (folder / student).mkdir(parents=True, exist_ok=True)
        (folder / student / f"{lesson}.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")

    honest = {student: NAME for student in ("aaron", "zoe", *NAMES[:2])} | {
        one.name: NAME for one in UNTIDY if one.lesson == NAME
    }
    for student in ("aaron", "zoe", *NAMES):
        hand_in(student, NAME, handed_in(course, NAME))
    for student in NAMES[2:]:
        (folder / student / f"{NAME}.ipynb").write_bytes(b"")
    for one in [*KINDS, *UNTIDY]:
        if one.lesson == NAME:
            hand_in(one.name, NAME, handed_in(course, NAME, one))
    for number, pack in enumerate(packed()):
        hand_in(f"kernels_{number}", KERNELS, handed_in(course, KERNELS, *pack))
    for name, (content, words) in malformed(handed_in(course, NAME)).items():
        path = folder / f"malformed_{name}" / f"{NAME}.ipynb"
        path.parent.mkdir()
        if content is not None:
            path.write_bytes(content)
        if words is None:
            honest[path.parent.name] = NAME
    (folder / "malformed_link_to_a_solution" / f"{NAME}.ipynb").symlink_to(course / "solutions" / f"{NAME}.ipynb")
    with open(folder / "malformed_empty" / f"{KERNELS}.ipynb", "wb") as file:
        file.truncate(200_000_000)
    os.mkfifo(folder / "malformed_brackets" / f"{KERNELS}.ipynb")
    (folder / "malformed_objects" / f"{KERNELS}.ipynb").mkdir()
    (folder / "everybody").symlink_to(course)
    for name in ("conftest.py", "sitecustomize.py", "numpy.py", "pytest.py"):
        (folder / "aaron" / name).write_text("raise SystemExit('a student runs code in the grader')")
    (folder / "aaron" / "pytest.ini").write_text("[pytest]\naddopts = --sandbox=off --collect-only\n")
    return honest


# The run


@dataclass
class Run:
    """What a run of the public command left."""

    course: Path
    honest: dict[str, str]
    log: str
    seconds: float
    verdicts: dict[tuple[str, str], dict[str, dict]]  # (student, lesson): exercises by id
    changed: list[str]
    left: list[str]  # in its temporary folder
    processes: list[str]

    def exercises(self, one: Kind) -> dict[str, dict]:
        if one.lesson == NAME:
            return self.verdicts[one.name, NAME]
        return self.verdicts[f"kernels_{next(n for n, pack in enumerate(packed()) if one in pack)}", KERNELS]


def state(*folders: Path) -> dict[str, str]:
    """What lies in folders: of each file a digest, of all else what it is."""
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if "__pycache__" in path.parts:
                continue
            plain = path.is_file() and not path.is_symlink()
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest() if plain else oct(path.lstat().st_mode)
    return found


def children() -> list[str]:
    """The processes below this one, with their command lines."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid() and fields[0] != "Z":
                found.append((status.parent / "cmdline").read_text().replace("\0", " ") or status.read_text())
        except OSError:
            continue
    return found


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Run:
    course = tmp_path_factory.mktemp("course")
    temporary = tmp_path_factory.mktemp("temporary")
    make_course(course)
    honest = write_class(course)
    (course / "elsewhere").mkdir()
    watched = [course / "solutions", course / "submissions", course / "elsewhere", ROOT / "tiles", ROOT / "solutions"]
    before, running = state(*watched), children()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what outlives the command becomes a child of this process
    options = ["--jobs", "2", "--seconds", str(SECONDS), "--cell-seconds", str(CELL_SECONDS)]
    command = [sys.executable, "-m", "classroom", "grade", str(course / "submissions"), "--root", str(course), *options]
    start = time.monotonic()
    run = subprocess.run(
        [*command, "--out", str(course / "gradebook")],
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        cwd=course / "elsewhere",
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
        timeout=1200,
    )
    seconds = time.monotonic() - start
    left = [str(path.relative_to(temporary)) for path in temporary.rglob("*")]
    left += [str(path) for folder in ("/tmp", "/dev/shm", "/var/tmp") for path in Path(folder).glob("hostile-*")]
    after = state(*watched)
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    verdicts = {}
    for path in (course / "gradebook" / "results").rglob("*.json"):
        result = json.loads(path.read_text(encoding="utf-8"))
        verdicts[result["student"], result["lesson"]] = {e["exercise"]: e for e in result["exercises"]}
    processes = [one for one in children() if one not in running]
    assert verdicts, run.stdout + run.stderr
    return Run(course, honest, run.stdout + run.stderr, seconds, verdicts, changed, left, processes)


@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.name)
def test_an_attack_scores_nothing(graded, one):
    exercises = graded.exercises(one)
    attacked = exercises[one.exercise]
    assert not attacked["passed"] and attacked["score"] == 0, attacked
    for words in one.expects:
        assert any(choice in attacked["message"] for choice in words.split(" | ")), attacked["message"]
    if one.others == "pass":
        mine = {one.exercise} | {other.exercise for pack in packed() if one in pack for other in pack if other in KINDS}
        assert {id_: e["message"] for id_, e in exercises.items() if id_ not in mine and not e["passed"]} == {}


def test_honest_and_untidy_ones_get_all_points(graded):
    lost = {student: graded.verdicts.get((student, lesson)) for student, lesson in graded.honest.items()}
    for student, exercises in lost.items():
        assert exercises is not None, f"{student!r} was not graded\n{graded.log}"
        assert {id_: e["message"] for id_, e in exercises.items() if not e["passed"]} == {}, student


def test_names_of_every_kind_are_graded(graded):
    for student in NAMES:
        assert (student, NAME) in graded.verdicts, f"{student!r} was not graded\n{graded.log}"


def test_what_is_no_notebook_is_told(graded):
    for name, (content, words) in malformed(handed_in(graded.course, NAME)).items():
        exercises = graded.verdicts.get((f"malformed_{name}", NAME))
        if content is None:
            assert exercises is None, name
        elif words is not None:
            messages = {e["message"] for e in exercises.values()}
            assert all(words in message for message in messages), (name, messages)


def test_nothing_is_left_and_nothing_changed(graded):
    assert graded.changed == []
    assert graded.left == []
    assert graded.processes == []
    assert list((graded.course / "elsewhere").iterdir()) == []


def test_no_attack_is_named_twice():
    assert len(KINDS) + len(malformed(lesson_notebook())) >= 30 and all(one.expects for one in KINDS)


def test_nothing_hidden_and_nothing_dangerous_is_told(graded):
    """In all that the run wrote: no hidden line, no markup of a student's, no control character, no half of a character."""
    secrets = [line for text in HIDDEN.values() for line in text.splitlines()] + ["of a hidden row", "of hidden blocks"]
    texts = {path: path.read_bytes().decode("utf-8") for path in (graded.course / "gradebook").rglob("*") if path.is_file()}
    for path, text in {**texts, Path("log"): graded.log}.items():
        assert not [line for line in secrets if line in text], path
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", text), path
        if path.suffix == ".html":
            assert not re.search(r"[\u202a-\u202e]", text), path
            assert not re.search(r"<script|<img|<svg|onerror=|onload=|onclick=|javascript:|https?://", without_escapes(text)), (
                path
            )
        if path.suffix == ".csv":
            assert not re.search(r"(^|,)\"?[=+@]", text, re.MULTILINE), path


def without_escapes(page: str) -> str:
    """The markup of a page: its tags, without the text between them."""
    return " ".join(re.findall(r"<[^>]*>", page))


def test_the_whole_keeps_to_its_limits(graded):
    messages = [e["message"] for exercises in graded.verdicts.values() for e in exercises.values()]
    assert max(map(len, messages)) < 2500
    assert sum(path.stat().st_size for path in (graded.course / "gradebook").rglob("*") if path.is_file()) < 5_000_000
    assert graded.seconds < 300
