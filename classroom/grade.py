"""Grade a folder of submissions: `python -m classroom grade submissions/ --out gradebook/`.

    submissions/STUDENT/LESSON.ipynb          read, never written
    gradebook/results/STUDENT/LESSON.json     one a submission
    gradebook/grades.csv                      one row a student, one column a lesson
    gradebook/graded/STUDENT/LESSON           what was graded, so that a second run grades only what is new

Each submission is graded by a pytest of its own, with a time limit, on a copy in a folder of its own: what a student
puts beside the notebook is not looked at, and a submission that fails, hangs or kills its grader costs nobody else
a grade.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from classroom.lesson import Lesson, LessonError, read, reference_of, write_if_changed
from classroom.plugin import UNGRADED

TERMINATION_SECONDS = 5


@dataclass(frozen=True)
class Submission:
    """One notebook handed in. `lesson` is the path of the solved lesson, or None where the file name is no lesson's."""

    student: str
    notebook: Path
    lesson: Path | None

    @property
    def name(self) -> str:
        return (self.lesson or self.notebook).stem


@dataclass(frozen=True)
class Settings:
    """Limits in seconds for a submission and for a cell, and the sandbox mode."""

    seconds: float
    cell_seconds: float
    sandbox: str


def grade_all(
    submissions: Path,
    out: Path,
    *,
    solutions: Path,
    jobs: int,
    seconds: float = 600,
    cell_seconds: float = 60,
    sandbox: str = "auto",
) -> int:
    """Grade every submission that is new, `jobs` at once; returns 0, or 1 when one could not be graded. Raises LessonError."""
    found = list(find_submissions(submissions, solutions))
    if out.resolve() == submissions.resolve() or submissions.resolve() in out.resolve().parents:
        raise LessonError(f"{out} lies inside {submissions}, where nothing is written. Choose another --out.")
    settings = Settings(seconds, cell_seconds, sandbox)
    failed = 0
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        for submission, outcome in pool.map(lambda one: (one, _grade_if_new(one, out, settings)), found):
            failed += outcome.startswith("error")
            print(f"{submission.student}/{submission.name}: {outcome}", flush=True)
    write_if_changed(out / "grades.csv", grades_csv(out / "results"))
    print(f"{len(found)} submissions; grades in {out / 'grades.csv'}")
    return 1 if failed else 0


def find_submissions(folder: Path, solutions: Path) -> Iterator[Submission]:
    """The notebooks in `folder/STUDENT/`, in order; links are left out. Raises LessonError where there are none."""
    if not folder.is_dir():
        raise LessonError(f"There is no folder {folder}. It should hold one folder a student.")
    notebooks = [path for path in sorted(folder.glob("*/*.ipynb")) if not path.name.startswith(".") and not path.is_symlink()]
    if not notebooks:
        raise LessonError(f"{folder} holds no STUDENT/LESSON.ipynb.")
    taken: dict[tuple[str, str], Path] = {}
    for path in notebooks:
        submission = Submission(path.parent.name, path, reference_of(path, solutions))
        key = submission.student, submission.name
        if key in taken:  # "05_x.ipynb" and "05_x (1).ipynb": the one with the plain name counts, else the first
            print(f"{path}: not graded, {taken[key].name} is the same lesson")
            continue
        taken[key] = path
        yield submission


def _grade_if_new(submission: Submission, out: Path, settings: Settings) -> str:
    """Grade one submission unless its grade is there; a few words for the log. Never raises: nobody else may suffer."""
    try:
        result = out / "results" / submission.student / f"{submission.name}.json"
        mark = out / "graded" / submission.student / submission.name
        if submission.lesson is None:
            return f"not graded: no lesson is called {submission.name}"
        fingerprint = _fingerprint(submission, settings)
        if result.exists() and mark.exists() and mark.read_text() == fingerprint:
            return "unchanged"
        record, problem = _grade(submission, settings)
        write_if_changed(result, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        if problem:
            mark.unlink(missing_ok=True)
            return f"error: {problem}"
        write_if_changed(mark, fingerprint)
        return f"{record['score']} of {record['max']} points"
    except Exception as error:
        return f"error: {type(error).__name__}: {error}"


def _fingerprint(submission: Submission, settings: Settings) -> str:
    """Changes when the submission, its lesson or the limits do."""
    digest = hashlib.sha256(submission.notebook.read_bytes())
    digest.update(submission.lesson.read_bytes())
    digest.update(repr(settings).encode())
    return digest.hexdigest()


def _grade(submission: Submission, settings: Settings) -> tuple[dict, str | None]:
    """The result of one submission, and why there is no grade in it, if so."""
    with tempfile.TemporaryDirectory(prefix="grade-") as folder:
        copy = Path(folder, "handed-in", submission.lesson.name)
        copy.parent.mkdir()
        shutil.copyfile(submission.notebook, copy)
        grades = Path(folder, "grades.json")
        problem = _run_pytest(copy, grades, submission.lesson.parent, settings)
        if grades.exists() and (found := json.loads(grades.read_text(encoding="utf-8"))):
            graded = found[0]
            result = {"student": submission.student, "lesson": graded["lesson"], "score": graded["score"], "max": graded["max"]}
            ungraded = [exercise["message"] for exercise in graded["exercises"] if exercise["message"].startswith(UNGRADED)]
            return {**result, "exercises": graded["exercises"]}, ungraded[0] if ungraded else None
    return _nothing(submission, read(submission.lesson), problem or "the grader ended without a grade"), problem


def _run_pytest(notebook: Path, grades: Path, solutions: Path, settings: Settings) -> str | None:
    """Grade a notebook in a process of its own; why there is no grade, or None."""
    folder = grades.parent
    (folder / "pytest.ini").write_text("[pytest]\n")
    options = ["--noconftest", "-c", str(folder / "pytest.ini"), "--rootdir", str(folder), "-q", "-p", "no:cacheprovider"]
    plugins = ["-p", "nbval.plugin", "-p", "classroom.plugin"]
    limits = [
        f"--cell-seconds={settings.cell_seconds}",
        f"--notebook-seconds={settings.seconds}",
        f"--sandbox={settings.sandbox}",
    ]
    places = [f"--grade-json={grades}", f"--solutions={solutions.resolve()}"]
    command = [sys.executable, "-m", "pytest", *options, *plugins, "--nbval", *limits, *places, str(notebook)]
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")}
    course = str(Path(__file__).resolve().parent.parent)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [course, environment.get("PYTHONPATH")]))
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with open(folder / "log", "w+") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        try:
            # The plugin keeps to the limit itself; this one is for a plugin that does not.
            status = process.wait(timeout=settings.seconds + 60)
        except subprocess.TimeoutExpired:
            _end(process)
            return f"took longer than {settings.seconds:g} s"
        log.seek(0)
        return None if status in (0, 1) else f"the grader failed (exit status {status}): {log.read()[-500:].strip()}"


def _end(process: subprocess.Popen) -> None:
    """Ends a grader; first politely, so that it ends its kernel."""
    process.terminate()
    try:
        process.wait(timeout=TERMINATION_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()
        process.wait()


def _nothing(submission: Submission, lesson: Lesson, problem: str) -> dict:
    """A result without a point, in the same form as any other."""
    exercises = [
        {"exercise": exercise.id, "passed": False, "score": 0, "max": exercise.points, "message": f"not graded: {problem}"}
        for exercise in lesson.exercises.values()
    ]
    return {"student": submission.student, "lesson": lesson.name, "score": 0, "max": lesson.points, "exercises": exercises}


def grades_csv(results: Path) -> str:
    """The table of all results: `student, LESSON…, score, max`; an empty field where a student handed nothing in."""
    scores: dict[str, dict[str, dict]] = {}
    for path in sorted(results.glob("*/*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        scores.setdefault(result["student"], {})[result["lesson"]] = result
    lessons = sorted({lesson for student in scores.values() for lesson in student})
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["student", *lessons, "score", "max"])
    for student, results_ in sorted(scores.items()):
        cells = [results_[lesson]["score"] if lesson in results_ else "" for lesson in lessons]
        totals = [sum(result[key] for result in results_.values()) for key in ("score", "max")]
        table.writerow([student, *cells, *totals])
    return text.getvalue()
