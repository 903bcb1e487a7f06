"""The lessons are valid assignments of nbgrader, and score there what they score here."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from classroom.lesson import EXERCISE, dashed, lesson_paths, read, role

pytest.importorskip("nbgrader", reason="nbgrader is not installed: pip install -r requirements.txt")

from nbgrader.api import Gradebook  # noqa: E402
from nbgrader.apps import NbGraderAPI  # noqa: E402
from nbgrader.plugins import CsvExportPlugin  # noqa: E402
from nbgrader.preprocessors import CheckCellMetadata  # noqa: E402
from traitlets.config import Config  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # nbgrader's own, of SQLAlchemy and of nbconvert

ROOT = Path(__file__).resolve().parent.parent
NAME = "05_online_softmax"
LESSON = read(ROOT / "solutions" / f"{NAME}.ipynb")
RIGHT, WRONG = {"5.1", "5.3", "5.c1"}, {"5.2", "5.4"}

# From an exercise, its solution and its blank to what a student hands in
STUDENTS: dict[str, Callable[[str, str, str], str]] = {
    "right": lambda exercise, solution, blank: solution,
    "mixed": lambda exercise, solution, blank: (
        solution if exercise in RIGHT else solution.replace("np.exp(", "np.exp2(") if exercise in WRONG else blank
    ),
}


def student_copy() -> NotebookNode:
    return nbformat.read(ROOT / "notebooks" / f"{NAME}.ipynb", as_version=4)


def handed_in(answer: Callable[[str, str, str], str]) -> NotebookNode:
    """A student's copy with answers."""
    notebook = student_copy()
    for cell in notebook.cells:
        kind, exercise = role(cell)
        if kind == EXERCISE:
            cell.source = answer(exercise, LESSON.exercises[exercise].answer.source, cell.source)
    return notebook


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course as nbgrader lays it out, with an assignment and what two students handed in."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "source" / NAME).mkdir(parents=True)
    shutil.copy(ROOT / "notebooks" / f"{NAME}.ipynb", folder / "source" / NAME)
    for student, answer in STUDENTS.items():
        (folder / "submitted" / student / NAME).mkdir(parents=True)
        nbformat.write(handed_in(answer), folder / "submitted" / student / NAME / f"{NAME}.ipynb")
    return folder


@pytest.fixture(scope="module")
def graded(course) -> Path:
    """The same course after generate_assignment, autograde and export."""
    config = Config()
    config.CourseDirectory.root = str(course)
    config.ClearSolutions.enabled = False  # notebooks/ has its blanks already
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)  # nbgrader calls alembic by name
        api = NbGraderAPI(config=config)
        steps = [api.generate_assignment(NAME), *(api.autograde(NAME, student) for student in STUDENTS)]
    assert [step["success"] for step in steps] == [True] * len(steps), [step["log"] for step in steps]
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        CsvExportPlugin(to=str(course / "grades.csv")).export(gradebook)
    return course


@pytest.fixture(scope="module")
def ours(course) -> dict[str, dict]:
    """What our own grader gives to the same notebooks, by student."""
    grades = course / "grades.json"
    options = ["-q", "-p", "no:cacheprovider", "--nbval", f"--grade-json={grades}", f"--solutions={ROOT / 'solutions'}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *map(str, sorted((course / "submitted").rglob("*.ipynb")))],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return {Path(found["notebook"]).parts[-3]: found for found in json.loads(grades.read_text())}


def test_points_are_ours(graded, ours):
    rows = {row["student_id"]: row for row in csv.DictReader((graded / "grades.csv").open())}
    theirs = {student: (float(row["score"]), float(row["max_score"])) for student, row in rows.items()}
    assert theirs == {student: (found["score"], found["max"]) for student, found in ours.items()}
    assert theirs == {"right": (14, 14), "mixed": (5, 14)}


def test_points_of_each_exercise_are_ours(graded, ours):
    with Gradebook(f"sqlite:///{graded / 'gradebook.db'}") as gradebook:
        for student, found in ours.items():
            (notebook,) = gradebook.find_submission(NAME, student).notebooks
            theirs = {grade.name: grade.score for grade in notebook.grades}
            assert theirs == {dashed("check", one["exercise"]): one["score"] for one in found["exercises"]}, student


def test_release_is_the_students_copy(graded):
    """nbgrader adds checksums, and takes nothing away."""
    release = nbformat.read(graded / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    assert [cell.source for cell in release.cells] == [cell.source for cell in student_copy().cells]


@pytest.mark.parametrize("path", lesson_paths(ROOT), ids=lambda path: path.stem)
def test_metadata(path):
    """nbgrader takes each lesson: valid metadata, no id twice, a point for a point."""
    notebook = nbformat.read(ROOT / "notebooks" / path.name, as_version=4)
    CheckCellMetadata().preprocess(notebook, {})
    data = [cell.metadata.nbgrader for cell in notebook.cells if "nbgrader" in cell.metadata]
    lesson = read(path)
    points = {dashed("check", exercise.id): exercise.points for exercise in lesson.exercises.values()}
    assert {one.grade_id: one.points for one in data if one.grade} == points
    assert {one.grade_id for one in data if one.solution} == {dashed(EXERCISE, exercise) for exercise in lesson.exercises}


def test_metadata_that_nbgrader_refuses():
    """The test above would pass on anything if it could not fail."""
    notebook = student_copy()
    first = next(cell for cell in notebook.cells if "nbgrader" in cell.metadata)
    first.metadata.nbgrader.grade_id = "exercise-5.1"
    with pytest.raises(Exception, match="metadata"):
        CheckCellMetadata().preprocess(notebook, {})
