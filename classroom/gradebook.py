"""The gradebook: what a class scored, made from graded attempts and from what the instructor decided about them.

    gradebook/attempts/STUDENT/LESSON/DIGEST.json   read: one graded attempt, see `classroom.grade`
    gradebook/results/STUDENT/LESSON.json           the attempt that counts, and what became of it
    gradebook/grades.csv                            one row a student
    gradebook/feedback/STUDENT.html                 a page for each student
    gradebook/report.html                           a page for the instructor
    gradebook/names.csv                             who has which id, where grading is anonymous: the one place with names

Nothing here is graded: the same attempts and the same `Policy` give the same files, so a deadline or a roster can be
changed at any time, and a second run writes what has changed.

STUDENT is the name of a student's folder where it is plain (`ada`, `s1234567`, `ada@uni.edu`), otherwise what is plain
of it, with a digest that no other name has: see `output_name`.
"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import json
import math
import os
import re
import secrets
import tempfile
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from classroom.lesson import LessonError, lesson_paths, read, sort_key, write_if_changed

if TYPE_CHECKING:
    from classroom.grade import Attempt

NAMES = "names.csv"
GENERATOR = "Think in Tiles: gradebook"  # marks a page as ours, so that it may be removed
NOT_GRADED_YET = "not graded yet: run the same command again"

_PLAIN = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # names of devices on Windows
_LETTERS = "bcdfghjkmnpqrstvwxz"  # of ids: no vowels, so no words; no digits, so that no spreadsheet reads a number
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # a spreadsheet executes a cell that begins so
_SEPARATOR = re.compile(r"[;\t\r\n]")  # somewhere they separate cells, and the next one could begin so


# ---- what the instructor decides


@dataclass(frozen=True)
class Policy:
    """How attempts become grades. Raises LessonError for values that mean nothing.

    keep: which attempt at a lesson counts, the "best" (after lateness; of equal ones the earlier) or the "last".
    deadlines: by the lesson's name, with a time zone; a lesson without one is never late.
    late_per_day: the fraction of the score that is lost for each day started after the deadline; 0 only marks it.
    roster: the students of the class and their names ("" for none); None: all who handed something in.
    anonymous: nothing that may hold a name is told, such as that of a file.
    """

    keep: str = "best"
    deadlines: Mapping[str, datetime] = field(default_factory=dict)
    late_per_day: float = 0.0
    roster: Mapping[str, str] | None = None
    anonymous: bool = False

    def __post_init__(self):
        if self.keep not in ("best", "last"):
            raise LessonError(f"Of several attempts, {self.keep!r} cannot count: say best or last.")
        if not 0 <= self.late_per_day <= 1:
            raise LessonError(f"A day late cannot cost {self.late_per_day:g} of the score: give a fraction, such as 0.1.")


def read_deadlines(values: Iterable[str], root: Path) -> dict[str, datetime]:
    """Deadlines by lesson, from texts such as "07=2026-11-02T23:59" and from CSV files with the columns lesson, deadline.

    A lesson is named as on the command line ("07", "7", "07_vector_add"), and looked for under `root`. A time without a
    zone is local time, a day alone ends at its midnight. Where a lesson is named twice, the last one holds.
    Raises LessonError.
    """
    found: dict[str, datetime] = {}
    for value in values:
        lesson, sign, when = value.partition("=")
        if sign and not Path(value).is_file():
            rows = [(value, lesson, when)]
        else:
            path = Path(value)
            table = _read_csv(path, "lesson", "deadline")
            rows = [(f"{path}, line {line}", row["lesson"], row["deadline"]) for line, row in table]
        for where, lesson, when in rows:
            lesson = lesson.strip()
            for path in lesson_paths(root, [lesson.zfill(2) if lesson.isdecimal() else lesson]):
                found[path.stem] = _moment(when.strip(), where)
    return found


def _moment(text: str, where: str) -> datetime:
    """A deadline as a moment. Raises LessonError."""
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return datetime.combine(date.fromisoformat(text), time.max).astimezone()
        moment = datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text))
        return moment if moment.tzinfo else moment.astimezone()
    except (ValueError, OverflowError, OSError):
        raise LessonError(
            f"{where}: {text!r} is no time. Write 2026-11-02T23:59 for local time, or 2026-11-02T23:59+01:00 with its zone."
        ) from None


def read_roster(path: Path) -> dict[str, str]:
    """The students of a class and their names ("" for none), from a CSV with the columns student and, if you like, name.

    A student is called as the folder with the submissions. Raises LessonError.
    """
    roster: dict[str, str] = {}
    for line, row in _read_csv(path, "student"):
        student = identity(row["student"].strip())
        if not student:
            continue
        if student in roster:
            raise LessonError(f"{path}, line {line}: {student} stands there twice. Remove one of the lines.")
        roster[student] = row.get("name", "").strip()
    if not roster:
        raise LessonError(f"{path} names no student. Write one a line, below the heading `student`.")
    return roster


def _read_csv(path: Path, *columns: str) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file by column, in small letters, each with the number of its line. Raises LessonError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        header = text.partition("\n")[0]
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count), strict=True)
        names = [name.strip().lower() for name in next(reader, [])]
        rows = [(reader.line_num, dict(zip(names, [*row, *[""] * len(names)]))) for row in reader if any(row)]
    except OSError as error:
        raise LessonError(f"{path} cannot be read: {error.strerror}. Give the path of a CSV file.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise LessonError(f"{path} cannot be read ({error}). Save it as CSV, in UTF-8.") from None
    if missing := [column for column in columns if column not in names]:
        raise LessonError(f"{path} has no column {missing[0]}: its first line must name the columns, {','.join(columns)}.")
    return rows


# ---- names


def identity(student: str) -> str:
    """A student's name in the one form in which it is compared: é is one letter, however it was typed. Raises LessonError."""
    try:
        student.encode()
    except UnicodeEncodeError:
        shown = student.encode("utf-8", "backslashreplace").decode()
        raise LessonError(f"The name of the folder {shown} is not UTF-8. Rename it.") from None
    return unicodedata.normalize("NFC", student)


def output_name(student: str) -> str:
    """What a student's files in the gradebook are called: the same for one student always, and for no two students.

    Plain names in small letters stay; of others the plain part is kept, and a digest follows after a tilde, which plain
    names do not have. Two names that differ in capitals alone, or look alike, thus never meet in one file, on any system.
    Raises LessonError for a name that is not UTF-8.
    """
    student = identity(student)
    if _PLAIN.fullmatch(student) and not _RESERVED.fullmatch(student) and not student.endswith("."):
        return student
    letters = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"[^a-z0-9]+", "-", letters)[:32].strip("-") or "student"
    return f"{plain}~{hashlib.sha256(student.encode()).hexdigest()[:12]}"


def attempt_file(out: Path, attempt: Attempt) -> Path:
    """Where a graded attempt lies. Raises LessonError for a student's name that is not UTF-8."""
    return out / "attempts" / output_name(attempt.student) / attempt.lesson.stem / f"{attempt.digest}.json"


def pseudonyms(out: Path, students: Iterable[str]) -> dict[str, str]:
    """An id for each student: those of `out/names.csv`, and a new random one for who has none yet.

    The file is readable for its owner alone, and is the one place with names. Raises LessonError where it is damaged.
    """
    path = out / NAMES
    ids: dict[str, str] = {}
    if path.exists():
        for line, row in _read_csv(path, "id", "student"):
            if row["id"] in ids.values() or not _PLAIN.fullmatch(row["id"]):
                raise LessonError(f"{path}, line {line}: the id is missing, or another student has it. Restore the file.")
            ids[_unguarded(row["student"])] = row["id"]
    wanted = {student: identity(student) for student in students}
    for student in sorted(set(wanted.values()) - ids.keys()):
        taken = {*ids.values(), *ids, *wanted.values()}
        while (new := "".join(secrets.choice(_LETTERS) for _ in range(6))) in taken:
            pass
        ids[student] = new
    rows = sorted((id_, _guarded(student)) for student, id_ in ids.items())
    _write_private(path, _csv_text([("id", "student"), *rows], quoting=csv.QUOTE_ALL))
    return {student: ids[name] for student, name in wanted.items()}


def anonymised(out: Path, attempts: Sequence[Attempt], policy: Policy) -> tuple[list[Attempt], Policy]:
    """The same attempts and policy with ids in place of all names, see `pseudonyms`. Raises LessonError."""
    ids = pseudonyms(out, {attempt.student for attempt in attempts} | set(policy.roster or ()))
    renamed = [dataclasses.replace(attempt, student=ids[attempt.student]) for attempt in attempts]
    roster = None if policy.roster is None else {ids[student]: "" for student in policy.roster}
    return sorted(renamed, key=lambda attempt: attempt.student), dataclasses.replace(policy, roster=roster, anonymous=True)


def _write_private(path: Path, text: str) -> None:
    """Write a file that nobody but its owner may read at any moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # of mode 0600
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
        stream.write(text)
    os.replace(temporary, path)


def _guarded(text: str) -> str:
    """A cell that a spreadsheet takes for text."""
    return f"'{text}" if text.startswith((*_FORMULA, "'")) else text


def _unguarded(text: str) -> str:
    return text[1:] if text.startswith("'") else text


# ---- attempts and results


@dataclass(frozen=True)
class Graded:
    """One attempt: what it scored, and what it lost for being late, in points.

    ungraded: why there is no grade, if so; it says nothing about the student then, and counts nothing.
    """

    digest: str
    handed_in: datetime
    exercises: list[dict]
    score: float
    days_late: int
    lost: float
    ungraded: str | None

    @property
    def points(self) -> float:
        """The score after lateness."""
        return rounded(self.score - self.lost)


@dataclass(frozen=True)
class Result:
    """All attempts of a student at a lesson, in the order of time, and the one that counts."""

    attempts: list[Graded]
    chosen: Graded

    @property
    def points(self) -> float | None:
        """None where the attempt that counts could not be graded."""
        return None if self.chosen.ungraded else self.chosen.points


@dataclass(frozen=True)
class LessonInfo:
    """What pages say of a lesson: its name, its title, and the title and points of each exercise."""

    name: str
    title: str
    titles: dict[str, str]
    points: dict[str, int]

    @property
    def max(self) -> int:
        return sum(self.points.values())

    @property
    def heading(self) -> str:
        """ "07 Vector add"."""
        return f"{self.name.partition('_')[0]} {self.title}"


@dataclass(frozen=True)
class Gradebook:
    """A class: its lessons, its students, a result for each lesson handed in, and files that belong to no lesson."""

    policy: Policy
    lessons: list[LessonInfo]
    students: list[str]
    results: dict[tuple[str, str], Result]
    strays: list[tuple[str, str]]  # student, name of the file

    @property
    def max(self) -> int:
        return sum(lesson.max for lesson in self.lessons)

    def name(self, student: str) -> str:
        """What the roster calls a student; "" where it does not."""
        return (self.policy.roster or {}).get(student, "")

    def total(self, student: str) -> float:
        """The points of a student: a lesson that is missing, or not graded, has none."""
        results = (self.results.get((student, lesson.name)) for lesson in self.lessons)
        return rounded(sum(result.points or 0 for result in results if result))


def write_gradebook(out: Path, attempts: Sequence[Attempt], policy: Policy) -> None:
    """Write results, grades, the feedback and the report from graded attempts, and remove what they no longer say.

    Raises LessonError: a solved lesson that cannot be read, a name that is no text.
    """
    from classroom.report import feedback_html, report_html

    book = gather(out, attempts, policy)
    written = {out / "grades.csv": grades_csv(book), out / "report.html": report_html(book)}
    for student in book.students:
        written[out / "feedback" / f"{output_name(student)}.html"] = feedback_html(book, student)
    for (student, lesson), result in book.results.items():
        info = next(info for info in book.lessons if info.name == lesson)
        written[out / "results" / output_name(student) / f"{lesson}.json"] = _result_json(student, info, result, policy)
    for path, text in written.items():
        write_if_changed(path, text)
    for path in [*out.glob("results/*/*.json"), *out.glob("feedback/*.html")]:
        if path not in written and _is_ours(path):
            path.unlink()
            if path.suffix == ".json" and not any(path.parent.iterdir()):
                path.parent.rmdir()


def gather(out: Path, attempts: Sequence[Attempt], policy: Policy) -> Gradebook:
    """The gradebook of a class, from the attempts graded into `out`. Raises LessonError."""
    solved = {attempt.lesson.stem: attempt.lesson for attempt in attempts if attempt.lesson}
    folder = next((path.parent for path in solved.values()), Path())
    for name in policy.deadlines:
        if name not in solved and (folder / f"{name}.ipynb").is_file():
            solved[name] = folder / f"{name}.ipynb"
    found: dict[tuple[str, str], list[Graded]] = {}
    strays = []
    for attempt in attempts:
        student = identity(attempt.student)
        if attempt.lesson is None:
            strays.append((student, "" if policy.anonymous else attempt.notebook.name))
        else:
            found.setdefault((student, attempt.lesson.stem), []).append(_graded(out, attempt, policy))
    if policy.roster is not None:
        policy = dataclasses.replace(policy, roster={identity(student): name for student, name in policy.roster.items()})
    students = {student for student, _ in [*found, *strays]} | set(policy.roster or ())
    results = {key: _chosen(found[key], policy.keep) for key in sorted(found)}
    return Gradebook(policy, [lesson_info(solved[name]) for name in sorted(solved)], sorted(students), results, sorted(strays))


def lesson_info(path: Path) -> LessonInfo:
    """Titles and points of a solved lesson. Raises LessonError."""
    lesson = read(path)
    text = "\n".join(cell.source for cell in lesson.notebook.cells if cell.cell_type == "markdown")
    title = re.search(r"^# +(.+)$", text, re.MULTILINE)
    found = dict(re.findall(r"^#+ +Exercise ([\w.]+\w): *(.+)$", text, re.MULTILINE))
    titles = {id_: found.get(id_, "concept question" if ".c" in id_ else "") for id_ in lesson.exercises}
    points = {id_: exercise.points for id_, exercise in lesson.exercises.items()}
    return LessonInfo(lesson.name, title[1] if title else lesson.name, titles, points)


def _graded(out: Path, attempt: Attempt, policy: Policy) -> Graded:
    """An attempt as it was graded. One that cannot be read was not graded: it is no reason to give nobody a grade."""
    deadline = policy.deadlines.get(attempt.lesson.stem)
    late = attempt.handed_in - deadline if deadline else timedelta(0)
    days = max(0, math.ceil(late / timedelta(days=1)))
    try:
        record = json.loads(attempt_file(out, attempt).read_text(encoding="utf-8"))
        exercises = sorted(record["exercises"], key=lambda exercise: sort_key(exercise["exercise"]))
        score, ungraded = sum(exercise["score"] for exercise in exercises), record.get("ungraded")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        exercises, score, ungraded = [], 0, NOT_GRADED_YET
    lost = rounded(score * min(1.0, policy.late_per_day * days))
    return Graded(attempt.digest, attempt.handed_in, exercises, score, days, lost, ungraded)


def _chosen(attempts: list[Graded], keep: str) -> Result:
    """The attempts in the order of time, and the one that counts."""
    attempts = sorted(attempts, key=lambda attempt: (attempt.handed_in, attempt.digest))
    graded = [attempt for attempt in attempts if not attempt.ungraded]
    best = keep == "best" and graded
    return Result(attempts, max(graded, key=lambda attempt: attempt.points) if best else attempts[-1])


def rounded(points: float) -> float:
    """Points with at most two digits after the point, and none where they are whole."""
    points = round(points + 1e-9, 2)
    return int(points) if points == int(points) else points


# ---- files


def grades_csv(book: Gradebook) -> str:
    """`student[, name], LESSON…, score, max`, then `LESSON 7.1`… for each exercise.

    A cell is empty where nothing was handed in, and where it could not be graded. Lessons and score are after lateness,
    exercises before it. max is that of all lessons, the same for all.
    """
    named = any(map(book.name, book.students))
    lessons = [lesson.name for lesson in book.lessons]
    exercises = [(lesson.name, exercise) for lesson in book.lessons for exercise in lesson.points]
    titles = [f"{lesson} {exercise}" for lesson, exercise in exercises]
    heading = ["student", *["name"] * named, *lessons, "score", "max", *titles]
    rows = []
    for student in book.students:
        results = {name: book.results[student, name] for name in lessons if (student, name) in book.results}
        points = [results[name].points if name in results else None for name in lessons]
        scores = {
            (name, exercise["exercise"]): exercise["score"]
            for name, result in results.items()
            if not result.chosen.ungraded
            for exercise in result.chosen.exercises
        }
        cells = [*points, book.total(student), book.max, *map(scores.get, exercises)]
        name = [_guarded(book.name(student))] * named
        rows.append([_guarded(student), *name, *("" if cell is None else cell for cell in cells)])
    odd = any(_SEPARATOR.search(student + book.name(student)) for student in book.students)
    return _csv_text([heading, *rows], quoting=csv.QUOTE_NONNUMERIC if odd else csv.QUOTE_MINIMAL)


def _csv_text(rows: Iterable[Sequence], **options) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", **options).writerows(rows)
    return text.getvalue()


def _result_json(student: str, lesson: LessonInfo, result: Result, policy: Policy) -> str:
    """The attempt that counts, in the documented form; then when it came, what it lost, and the other attempts."""
    chosen, deadline = result.chosen, policy.deadlines.get(lesson.name)
    late = {"deadline": deadline.isoformat(), "days": chosen.days_late, "lost": chosen.lost} if chosen.days_late else None
    record = {
        "student": student,
        "lesson": lesson.name,
        "score": result.points or 0,
        "max": lesson.max,
        "exercises": chosen.exercises,
        "ungraded": chosen.ungraded,
        "attempt": chosen.digest,
        "handed_in": chosen.handed_in.isoformat(),
        "late": late,
        "attempts": [
            {
                "attempt": attempt.digest,
                "handed_in": attempt.handed_in.isoformat(),
                "days_late": attempt.days_late,
                "score": attempt.points,
                "ungraded": attempt.ungraded,
            }
            for attempt in result.attempts
        ],
    }
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace").decode()  # half a letter, from a student's message, as JSON writes it


def _is_ours(path: Path) -> bool:
    """Whether a result or a page was written by `write_gradebook`, and nobody's own file."""
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".html":
            return f'content="{GENERATOR}"' in text[:2000]
        record = json.loads(text)
        return "exercises" in record and path.stem == record["lesson"] and path.parent.name == output_name(record["student"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
