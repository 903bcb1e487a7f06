"""A grader of many submissions: `python -m classroom.worker`, started by the engines.

It says that it is ready, reads tasks as lines of JSON on stdin, answers each with a line on stdout, and ends when stdin
does. What grading needs is imported once, and each lesson is read once; every submission is then graded by pytest in a
process forked from this one, on a copy in a folder of its own, with a time limit. What comes of it is written in one
step to the task's record, so that whoever is killed leaves a whole record or none.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import gc
import hashlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from classroom import bindings, sandbox
from classroom.lesson import read_once, write_if_changed
from classroom.submission import MAX_BYTES, used_names

GRACE_SECONDS = 60  # the plugin keeps to the limit of a submission itself; after these more, it is killed
FORKS = sys.platform == "linux"


@dataclass(frozen=True)
class Task:
    """One submission to grade: a notebook, its solved lesson, where the record goes, and limits in seconds."""

    student: str
    lesson: str
    notebook: str
    digest: str
    fingerprint: str
    record: str
    seconds: float
    cell_seconds: float
    sandbox: str


@dataclass(frozen=True)
class Outcome:
    """What came of a task. `ungraded` says why there is no grade, or is None; `note` says what the sandbox leaves open."""

    score: int
    max: int
    ungraded: str | None = None
    note: str | None = None
    final: bool = True  # False where another try may go better


class Gone(Exception):
    """Whoever asked for a grade is gone."""


def file_digest(path: Path) -> str:
    """The first 16 hexadecimal digits of a notebook's SHA-256; of a file too large to be graded, of its beginning."""
    with open(path, "rb") as stream:
        return hashlib.sha256(stream.read(MAX_BYTES + 1)).hexdigest()[:16]


def main(scratch: Path) -> None:
    """Answer tasks until stdin ends. `scratch` is a folder for temporary files, which is removed then."""
    import nbval.plugin  # noqa: F401  what follows is imported once, for all submissions

    import classroom.plugin
    import classroom.sitting  # noqa: F401

    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed is no answer
    _say(answers, {})
    with contextlib.suppress(Gone):
        for line in iter(sys.stdin.buffer.readline, b""):
            _say(answers, asdict(grade(Task(**json.loads(line)))))


def _say(answers: TextIO, answer: dict) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def grade(task: Task) -> Outcome:
    """Grade one submission, and write its record. Raises Gone when stdin ends meanwhile."""
    try:
        sandbox.warm(task.sandbox)
        _rehearse(task.lesson)
        with tempfile.TemporaryDirectory(prefix="one-", ignore_cleanup_errors=True) as folder:
            return _grade(task, Path(folder))
    except Gone:
        raise
    except Exception as error:
        return give_up(task, f"{type(error).__name__}: {error}", final=False)


def _grade(task: Task, folder: Path) -> Outcome:
    from classroom.plugin import UNGRADED

    lesson = Path(task.lesson)
    copy, grades = folder / "handed-in" / lesson.name, folder / "grades.json"
    copy.parent.mkdir()
    with open(task.notebook, "rb") as handed_in, open(copy, "wb") as stream:
        stream.write(handed_in.read(MAX_BYTES + 1))
    if file_digest(copy) != task.digest:
        return give_up(task, "the file changed while it was graded", final=False)
    options = [f"--cell-seconds={task.cell_seconds}", f"--notebook-seconds={task.seconds}", f"--sandbox={task.sandbox}"]
    status = _run_pytest(folder, [*options, f"--grade-json={grades}", *_places(lesson), str(copy)], task.seconds + GRACE_SECONDS)
    if status is None:
        return give_up(task, f"took longer than {task.seconds:g} s")
    found = json.loads(grades.read_text(encoding="utf-8")) if status in (0, 1) and grades.exists() else []
    if not found:
        log = (folder / "log").read_text(errors="replace")[-500:].strip()
        return give_up(task, f"the grader failed (exit status {status}): {log}", final=False)
    messages = [exercise["message"] for exercise in found[0]["exercises"]]
    ungraded = next((message for message in messages if message.startswith(UNGRADED)), None)
    _write(task, found[0], ungraded)
    note = sandbox.note(task.sandbox)
    return Outcome(found[0]["score"], found[0]["max"], ungraded, note, final=ungraded is None)


def give_up(task: Task, reason: str, final: bool = True) -> Outcome:
    """Record a submission as not graded: no points, and the reason beside each exercise."""
    lesson = read_once(Path(task.lesson))
    exercises = [
        {"exercise": exercise.id, "passed": False, "score": 0, "max": exercise.points, "message": f"not graded: {reason}"}
        for exercise in lesson.exercises.values()
    ]
    _write(task, {"lesson": lesson.name, "score": 0, "max": lesson.points, "exercises": exercises}, reason)
    return Outcome(0, lesson.points, reason, final=final)


def _write(task: Task, graded: dict, ungraded: str | None) -> None:
    kept = {key: graded[key] for key in ("lesson", "score", "max", "exercises")}
    record = {"student": task.student, **kept, "fingerprint": task.fingerprint, "ungraded": ungraded}
    write_if_changed(Path(task.record), json.dumps(record, indent=1) + "\n")


# A pytest for each submission


@functools.cache
def _rehearse(lesson: str) -> None:
    """Collect a solved lesson as if it were handed in, so that forked graders find in memory what all of them need."""
    if not FORKS:
        return
    with tempfile.TemporaryDirectory(prefix="one-") as folder, open(os.devnull, "w") as null:
        copy = Path(folder, "handed-in", Path(lesson).name)
        copy.parent.mkdir()
        shutil.copyfile(lesson, copy)
        with contextlib.redirect_stdout(null), contextlib.redirect_stderr(null):
            _pytest(Path(folder), ["--collect-only", *_places(Path(lesson)), str(copy)])
    cells = read_once(Path(lesson)).notebook.cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    bindings.defined(sources)
    for source in sources:
        used_names(source)
    gc.collect()
    gc.freeze()  # so that the memory stays shared with the forked graders


def _places(lesson: Path) -> list[str]:
    return ["--nbval", f"--solutions={lesson.resolve().parent}"]


def _pytest(folder: Path, arguments: list[str]) -> int:
    """Run pytest in this process, with no settings but ours, in `folder`; its exit status."""
    import nbval.plugin
    import pytest

    import classroom.plugin

    (folder / "pytest.ini").write_text("[pytest]\n")
    options = ["--noconftest", "-c", str(folder / "pytest.ini"), "--rootdir", str(folder), "-q", "--assert=plain"]
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    without = [f"-pno:{name}" for name in ("cacheprovider", "doctest", "unittest", "junitxml", "pastebin", "faulthandler")]
    return int(pytest.main([*options, *without, *arguments], plugins=[nbval.plugin, classroom.plugin]))


def _run_pytest(folder: Path, arguments: list[str], seconds: float) -> int | None:
    """Run pytest in a process of its own that logs to `folder/log`; its exit status, or None after `seconds`."""
    if not FORKS:
        return _run_pytest_anew(folder, arguments, seconds)
    parent, (ours, theirs) = os.getpid(), os.pipe()
    child = os.fork()
    if child == 0:
        status = 70
        try:
            os.setsid()
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: nobody grades on for a worker that is gone
            if os.getppid() != parent:
                os._exit(status)
            for number, target in ((0, os.open(os.devnull, os.O_RDONLY)), (1, _log(folder)), (2, 1)):
                os.dup2(target, number)
            os.chdir(folder)
            status = _pytest(folder, arguments)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    os.close(theirs)
    try:
        # The pipe is at its end when the grader is; stdin is when whoever asked is.
        readable, _, _ = select.select([ours, 0], [], [], seconds)
        if ours in readable:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.kill(child, signal.SIGKILL)  # its kernel ends with it
        os.waitpid(child, 0)
        if readable:
            raise Gone
        return None
    finally:
        os.close(ours)


def _log(folder: Path) -> int:
    return os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def _run_pytest_anew(folder: Path, arguments: list[str], seconds: float) -> int | None:
    """As `_run_pytest`, where processes cannot be forked: it starts a new Python."""
    command = "import json, sys, pathlib, classroom.worker as w; sys.exit(w._pytest(pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])))"
    with open(folder / "log", "w") as log:
        start = [sys.executable, "-c", command, str(folder), json.dumps(arguments)]
        try:
            return subprocess.run(start, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=seconds).returncode
        except subprocess.TimeoutExpired:
            return None


if __name__ == "__main__":
    main(Path(sys.argv[1]))
