"""Grade a folder of submissions: `python -m classroom grade submissions/ --out gradebook/`.

    submissions/STUDENT/**/LESSON.ipynb               read, never written; each notebook is an attempt
    gradebook/attempts/STUDENT/LESSON/DIGEST.json     what one attempt scored, written in one step by its grader
    gradebook/grades.csv, results/, report.html, …    made from the attempts: see `classroom.gradebook`

Each attempt is graded in a process of its own, with a time limit, on a copy in a folder of its own: what a student puts
beside the notebook is not looked at, and a notebook that fails, hangs or kills its grader costs nobody else a grade.

A run grades what is new or has changed: the notebook, its lesson, `tiles`, the grader, a limit. So a run that was ended
in any way goes on where it was when it is started again. Where grading happens is an engine's: see `classroom.engines`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path

from classroom.engines import Engine
from classroom.gradebook import Policy, anonymised, attempt_file, identity, write_gradebook
from classroom.lesson import LessonError, read_once, reference_of
from classroom.sandbox import tiles_folder
from classroom.worker import Outcome, Task, file_digest

FOLDERS_DEEP = 3  # between a student's folder and a notebook
GRADER = ("bindings", "derive", "kernel", "lesson", "nursery", "plugin", "reach", "sandbox", "sitting", "submission", "worker")

_TIME = re.compile(
    r"(?<!\d)(\d{4})-?(\d\d)-?(\d\d)(?:[T _]+(\d\d)[-:.]?(\d\d)(?:[-:.]?(\d\d)(?:\.\d+)?)?(?: *(Z|UTC|[+-]\d\d:?\d\d))?)?(?!\d)"
)


@dataclass(frozen=True)
class Attempt:
    """One notebook handed in, and when (with a time zone). `lesson` is the solved lesson's path, or None where the file
    name is no lesson's; `digest` that of the notebook's bytes."""

    student: str
    lesson: Path | None
    notebook: Path
    handed_in: datetime
    digest: str

    @property
    def name(self) -> str:
        """The lesson's name, or that of the file."""
        return (self.lesson or self.notebook).stem


@dataclass(frozen=True)
class Settings:
    """Limits in seconds for a submission and for a cell, and the sandbox mode."""

    seconds: float = 600
    cell_seconds: float = 30
    sandbox: str = "auto"


def grade_all(
    submissions: Path,
    out: Path,
    *,
    solutions: Path,
    engine: Engine,
    policy: Policy,
    settings: Settings,
    regrade: Collection[str] = (),
) -> int:
    """Grade every attempt that is new or has changed, and write the gradebook; returns 1 when one could not be graded.

    regrade: names of lessons that are graded anew in any case. Raises LessonError.
    """
    if out.resolve() == submissions.resolve() or submissions.resolve() in out.resolve().parents:
        raise LessonError(f"{out} lies inside {submissions}, where nothing is written. Choose another --out.")
    attempts = find_attempts(submissions, solutions)
    with _locked(out), _ended_by_signals():
        if policy.anonymous:
            attempts, policy = anonymised(out, attempts, policy)
        tasks, before = _to_grade(attempts, out, settings, regrade)
        strays = [attempt for attempt in attempts if attempt.lesson is None]
        progress = Progress(len(tasks))
        for attempt in strays:
            name = "one file's name" if policy.anonymous else attempt.name
            progress.say(f"{attempt.student}/{name}: not graded: no lesson is called so. Rename it to the lesson's file name.")
        failed, notes = 0, set()
        try:
            with contextlib.closing(engine(tasks)) as graded:
                for task, outcome in graded:
                    failed += outcome.ungraded is not None
                    notes |= {outcome.note} - {None}
                    progress.step(f"{task.student}/{Path(task.lesson).stem}: {_words(outcome, before.get(task.record))}")
        finally:
            progress.end()
        write_gradebook(out, attempts, policy)
    for note in sorted(notes):
        print(f"note: {note}")
    unchanged = len({(attempt.student, attempt.lesson, attempt.digest) for attempt in attempts}) - len(strays) - len(tasks)
    count = f"{len(attempts)} submission{'s' if len(attempts) > 1 else ''}"
    print(f"{count}: {len(tasks)} graded now, {unchanged} unchanged; grades in {out / 'grades.csv'}")
    if failed:
        print(f"{failed} could not be graded, and count nothing yet. The same command tries them again.")
    return 1 if failed else 0


def _words(outcome: Outcome, before: int | None) -> str:
    if outcome.ungraded:
        return f"not graded: {outcome.ungraded}"
    changed = f"{before} -> " if before not in (None, outcome.score) else ""
    return f"{changed}{outcome.score} of {outcome.max} points"


# What was handed in


def find_attempts(folder: Path, solutions: Path) -> list[Attempt]:
    """The notebooks below `folder/STUDENT/`, by student, lesson and time; links are never followed. Raises LessonError."""
    if not folder.is_dir():
        raise LessonError(f"There is no folder {folder}. It should hold one folder a student.")
    found = []
    for entry in _entries(folder):
        if not entry.is_dir(follow_symlinks=False):
            continue
        try:
            student = identity(entry.name)
        except LessonError as error:
            print(f"not graded: {error}", flush=True)
            continue
        for path in _notebooks(Path(entry.path), FOLDERS_DEEP):
            found.append(Attempt(student, reference_of(path, solutions), path, _handed_in(path, Path(entry.path)), _digest(path)))
    if not found:
        raise LessonError(f"{folder} holds no STUDENT/LESSON.ipynb.")
    return sorted(found, key=lambda attempt: (attempt.student, attempt.name, attempt.handed_in, attempt.notebook))


def _entries(folder: Path) -> list[os.DirEntry]:
    """What a folder holds, in order; nothing hidden, and no links."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        print(f"{_plain(folder)}: cannot be read ({error.strerror})", flush=True)
        return []
    for entry in found:
        if entry.is_symlink() and (entry.is_dir() or entry.name.endswith(".ipynb")):
            print(f"{_plain(entry.path)}: a link, not followed", flush=True)
    return [entry for entry in found if not entry.name.startswith((".", "__MACOSX")) and not entry.is_symlink()]


def _notebooks(folder: Path, deep: int) -> Iterator[Path]:
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            if deep:
                yield from _notebooks(Path(entry.path), deep - 1)
        elif entry.name.endswith(".ipynb") and entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def _handed_in(notebook: Path, student: Path) -> datetime:
    """When a notebook was handed in: nbgrader's timestamp.txt beside it, the name of a folder, or the file's own time.

    A time without a zone is local time.
    """
    texts = [parent.name for parent in notebook.parents if student in parent.parents]
    stamp = notebook.with_name("timestamp.txt")
    if stamp.is_file() and not stamp.is_symlink():
        with contextlib.suppress(OSError), open(stamp, errors="replace") as stream:
            texts.insert(0, stream.read(100))
    for text in texts:
        if match := _TIME.search(text):
            *numbers, zone = match.groups(default="0")
            offset = "+0000" if zone in ("Z", "UTC") else zone.replace(":", "")
            with contextlib.suppress(ValueError, OverflowError, OSError):
                moment = datetime(*map(int, numbers))
                if zone != "0":
                    moment = moment.replace(tzinfo=datetime.strptime(offset, "%z").tzinfo)
                return moment.astimezone(timezone.utc)
    try:
        return datetime.fromtimestamp(notebook.stat().st_mtime, timezone.utc)
    except (ValueError, OverflowError, OSError) as error:
        print(f"{_plain(notebook)}: the time of the file says nothing ({error}): taken as handed in now", flush=True)
        return datetime.now(timezone.utc)


def _digest(notebook: Path) -> str:
    try:
        return file_digest(notebook)
    except OSError:
        return "unreadable"  # the grader will say why


# What is graded


def _to_grade(
    attempts: list[Attempt], out: Path, settings: Settings, regrade: Collection[str]
) -> tuple[list[Task], dict[str, int]]:
    """The tasks of a run, each file once; and by record the scores of those that were graded before. Raises LessonError."""
    tasks, before = {}, {}
    grader = _grader_hash()
    lessons = {lesson: _file_hash(lesson) for lesson in {attempt.lesson for attempt in attempts} - {None}}
    for lesson in sorted(lessons):
        read_once(lesson)  # one that is broken is told at once
    for attempt in attempts:
        if attempt.lesson is None:
            continue
        record = attempt_file(out, attempt).resolve()
        fingerprint = _fingerprint(attempt.digest, lessons[attempt.lesson], grader, settings)
        old = read_record(record)
        if old and old["ungraded"] is None:
            before[str(record)] = old["score"]
            if old["fingerprint"] == fingerprint and attempt.lesson.stem not in regrade:
                continue
        lesson, notebook = str(attempt.lesson.resolve()), str(attempt.notebook.absolute())
        tasks[record] = Task(attempt.student, lesson, notebook, attempt.digest, fingerprint, str(record), **asdict(settings))
    return list(tasks.values()), before


def read_record(path: Path) -> dict | None:
    """What was recorded of an attempt: {"student", "lesson", "score", "max", "exercises", "fingerprint", "ungraded"}, or None."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return record if {"score", "fingerprint", "ungraded"} <= record.keys() else None
    except (OSError, ValueError, AttributeError):
        return None


def _fingerprint(digest: str, lesson: str, grader: str, settings: Settings) -> str:
    """Changes when the notebook, its lesson, `tiles`, the grader or the limits do, by their hashes."""
    parts = [digest, lesson, grader, float(settings.seconds), float(settings.cell_seconds), settings.sandbox]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _grader_hash() -> str:
    tiles = tiles_folder()
    sources = [path for path in tiles.rglob("*") if "__pycache__" not in path.parts] if tiles else []
    own = [Path(__file__).with_name(f"{name}.py") for name in GRADER]
    files = sorted(path for path in [*sources, *own] if path.is_file())
    return hashlib.sha256(repr([(path.name, _file_hash(path)) for path in files]).encode()).hexdigest()


# One run at a time, and how it ends


@contextlib.contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Keeps a second run out of a gradebook, on any machine that shares it. Raises LessonError.

    The system takes the lock from a process that has died.
    """
    out.mkdir(parents=True, exist_ok=True)
    with open(out / ".lock", "a+") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            file.seek(0)
            who = file.read(200).strip() or "another process"
            raise LessonError(f"A run is grading into {out} already ({who}). Wait for its end, or end it.") from None
        except (ImportError, OSError):
            print(f"note: there are no locks on the file system of {out}: start no second run while this one goes on", flush=True)
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        file.flush()
        yield


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """While it lasts, a signal that ends the process ends it as an exception does, so that workers are ended too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _) -> None:
        sys.exit(128 + number)

    numbers = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None))]
    before = {number: signal.signal(number, end) for number in numbers if signal.getsignal(number) != signal.SIG_IGN}  # nohup
    try:
        yield
    except KeyboardInterrupt:
        raise LessonError("Ended. The same command goes on from here.") from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Progress:
    """Says what has been done: lines, and on a terminal a bar below them."""

    def __init__(self, total: int):
        self.total, self.done, self.begun = total, 0, time.monotonic()
        self.terminal = sys.stdout.isatty()
        self._draw()

    def step(self, line: str) -> None:
        """One more is done."""
        self.done += 1
        self.say(line)

    def say(self, line: str) -> None:
        """A line of its own."""
        print(f"{self._cleared()}{_plain(line)}", flush=True)
        self._draw()

    def end(self) -> None:
        """Take the bar away."""
        print(self._cleared(), end="", flush=True)

    def _cleared(self) -> str:
        return "\r\x1b[K" if self.terminal else ""

    def _draw(self) -> None:
        if self.terminal and self.total:
            seconds = time.monotonic() - self.begun
            left = f", {_duration(seconds / self.done * (self.total - self.done))} left" if self.done else ""
            rate = f", {seconds / self.done:.1f} s each" if self.done else ""
            text = f" {self.done} of {self.total}{rate}{left}"
            width = max(10, min(40, shutil.get_terminal_size().columns - len(text) - 3))
            full = width * self.done // self.total
            print(f"\r\x1b[K[{'#' * full}{'.' * (width - full)}]{text}", end="", flush=True)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _plain(text: object) -> str:
    """A text that moves no cursor: what cannot be printed is escaped."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(text))
