"""The pages of a gradebook: one for each student, one for the instructor. No script, no request, nothing to click through.

Every text on them may be a stranger's: the name of a folder, what an answer printed or raised. Jinja escapes it, and
`visible` writes out what a reader could not see. Of hidden checks and expected values the pages hold what the messages
of `classroom.sitting` hold, which is nothing; why the grader itself failed is told on the instructor's page alone.
"""

from __future__ import annotations

import functools
import re
import statistics
import unicodedata
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from classroom.gradebook import GENERATOR, Gradebook, Graded, LessonInfo, Result, output_name, rounded
from classroom.plugin import UNGRADED

PAGES = Path(__file__).parent / "pages"
STATES = {"passed": "✓", "not yet": "×", "blank": "○", "missing": "–", "ungraded": "?"}
CELLS = {state: Markup(f"<td class={state[0]}>{'' if state == 'missing' else sign}") for state, sign in STATES.items()}
HARDEST = 8
GROUPS_SHOWN = 3


# ---- what became of an exercise


def state_of(exercise: dict) -> str:
    """A key of STATES for a graded exercise."""
    message = exercise["message"]
    if exercise["passed"]:
        return "passed"
    if message.startswith((UNGRADED, "not graded")):
        return "ungraded"
    return "blank" if message.startswith("not written yet") else "not yet"


@dataclass(frozen=True)
class Row:
    """One exercise of one student, as a page shows it."""

    id: str
    title: str
    state: str
    score: float
    max: int
    message: str


def rows_of(lesson: LessonInfo, result: Result | None) -> list[Row]:
    """The exercises of a lesson in its order; of one that could not be graded no message is kept."""
    graded = {exercise["exercise"]: exercise for exercise in result.chosen.exercises} if result else {}
    nothing = "ungraded" if result and result.chosen.ungraded else "missing"
    rows = []
    for id_, points in lesson.points.items():
        exercise = graded.get(id_)
        state = state_of(exercise) if exercise else nothing
        message = exercise["message"] if state in ("not yet", "blank") else ""
        rows.append(Row(id_, lesson.titles[id_], state, exercise["score"] if exercise else 0, points, message))
    return rows


# ---- the commonest messages


_CASE = re.compile(r"^Exercise \S+ is not right yet[:.].*\n?")  # on which sizes it failed first
_QUOTED = re.compile(r"""(?<!\w)(['"`‘“«])(?:(?!\1).){1,200}?(?:\1|[’”»])(?!\w)""")  # in one line
_NUMBER = re.compile(r"(?<!\w)[-+−]?(?:\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?|nan\b|inf\b)")
_LIST = re.compile(r"#(?:[,;x×] ?#|,)+")


def pattern(message: str) -> str:
    """What messages have in common that differ in numbers, lines, sizes or quoted names alone."""
    text = _CASE.sub("", message) or message
    for expression, replacement in ((_QUOTED, "`…`"), (_NUMBER, "#"), (_LIST, "#")):
        text = expression.sub(replacement, text)
    return " ".join(text.split())


@dataclass(frozen=True)
class Group:
    """How many students read messages of one pattern, and the one that most of them read."""

    students: int
    sample: str


def groups_of(messages: list[str]) -> list[Group]:
    """Messages, one a student, by pattern; the commonest first."""
    patterns: dict[str, list[str]] = {}
    for message in sorted(messages):
        patterns.setdefault(pattern(message), []).append(message)
    groups = [Group(len(same), Counter(same).most_common(1)[0][0]) for same in patterns.values()]
    return sorted(groups, key=lambda group: (-group.students, group.sample))


# ---- the pages


def feedback_html(book: Gradebook, student: str) -> str:
    """The page of one student."""
    lessons = [(lesson, book.results.get((student, lesson.name))) for lesson in book.lessons]
    return _page(
        "feedback.html",
        book=book,
        student=student,
        lessons=[(lesson, result, rows_of(lesson, result)) for lesson, result in lessons],
        strays=[file for one, file in book.strays if one == student],
    )


def report_html(book: Gradebook) -> str:
    """The page of the instructor: what the class can do, who needs attention, and which misconceptions it has."""
    rows = {
        (student, lesson.name): rows_of(lesson, book.results.get((student, lesson.name)))
        for student in book.students
        for lesson in book.lessons
    }
    exercises = [_about(book, lesson, number, rows) for lesson in book.lessons for number in range(len(lesson.points))]
    roster = book.policy.roster
    present = {student for student, _ in book.results}
    shares = [book.total(student) / book.max for student in sorted(present) if book.max]
    ungraded = [
        (student, lesson, attempt)
        for (student, lesson), result in book.results.items()
        for attempt in result.attempts
        if attempt.ungraded
    ]
    return _page(
        "report.html",
        book=book,
        rows=rows,
        ranking=sorted(book.students, key=lambda student: (-book.total(student), student)),
        lessons=[(lesson, _class_at(book, lesson), [e for e in exercises if e.lesson is lesson]) for lesson in book.lessons],
        hardest=sorted((e for e in exercises if e.share is not None and e.share < 1), key=lambda e: e.share)[:HARDEST],
        wrong=sorted((e for e in exercises if e.groups), key=lambda e: -e.counts["not yet"]),
        attempts=sum(len(result.attempts) for result in book.results.values()),
        mean=statistics.mean(shares) if shares else None,
        median=statistics.median(shares) if shares else None,
        absent=[student for student in book.students if student not in present],
        unknown=[student for student in book.students if roster is not None and student not in roster],
        ungraded=ungraded,
        late=[(student, lesson, result.chosen) for (student, lesson), result in book.results.items() if result.chosen.days_late],
    )


@dataclass(frozen=True)
class ClassExercise:
    """One exercise of the whole class: how many students are in which state, and what they read."""

    lesson: LessonInfo
    id: str
    title: str
    counts: Counter
    groups: list[Group]

    @property
    def share(self) -> float | None:
        """The share of passes among those who handed the lesson in and were graded; None where nobody was."""
        handed_in = sum(self.counts[state] for state in ("passed", "not yet", "blank"))
        return self.counts["passed"] / handed_in if handed_in else None


def _about(book: Gradebook, lesson: LessonInfo, number: int, rows: dict[tuple[str, str], list[Row]]) -> ClassExercise:
    found = [rows[student, lesson.name][number] for student in book.students]
    groups = groups_of([row.message for row in found if row.state == "not yet"])
    id_ = list(lesson.points)[number]
    return ClassExercise(lesson, id_, lesson.titles[id_], Counter(row.state for row in found), groups)


def _class_at(book: Gradebook, lesson: LessonInfo) -> dict:
    """Who handed a lesson in, and what they got."""
    results = {student: book.results.get((student, lesson.name)) for student in book.students}
    points = [result.points for result in results.values() if result and result.points is not None]
    return {
        "missing": [student for student, result in results.items() if result is None],
        "handed_in": sum(result is not None for result in results.values()),
        "mean": rounded(statistics.mean(points)) if points else None,
        "median": rounded(statistics.median(points)) if points else None,
    }


# ---- how things are written


def visible(text: str) -> str:
    """Text in which nothing hides: control characters, and those that turn or join letters, are written out as escapes."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in "\n\t" else _written_out(letter) for letter in text)


def _written_out(letter: str) -> str:
    return " " if unicodedata.category(letter) == "Zs" else letter.encode("unicode_escape").decode()


def moment(when: datetime) -> str:
    """ "2026-11-02 23:59 (UTC+01:00)", in local time."""
    text = when.astimezone().isoformat(" ", "minutes")
    return f"{text[:16]} (UTC{text[16:]})"


def duration(time: timedelta) -> str:
    """ "1 day 3 h", "12 min": the largest two units at most."""
    seconds = max(1, int(time.total_seconds()))
    units = [(seconds // 86400, "day"), (seconds // 3600 % 24, "h"), (seconds // 60 % 60, "min"), (seconds % 60, "s")]
    first = next(number for number, (count, _) in enumerate(units) if count)
    shown = units[first : first + (1 if first >= 2 else 2)]
    return " ".join(f"{count} {name}{'s' if name == 'day' and count > 1 else ''}" for count, name in shown if count)


def count(number: int, thing: str) -> str:
    """ "1 student", "2 students"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def late_by(book: Gradebook, lesson: str, attempt: Graded) -> timedelta:
    """How long after the deadline an attempt was handed in."""
    return attempt.handed_in - book.policy.deadlines[lesson]


def link(student: str) -> str:
    """From the report to a student's page."""
    return f"feedback/{quote(output_name(student))}.html"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(PAGES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
    )
    made.globals.update(
        count=count, duration=duration, generator=GENERATOR, late_by=late_by, link=link, moment=moment, percent=percent
    )
    made.globals.update(STATES=STATES, CELLS=CELLS, GROUPS_SHOWN=GROUPS_SHOWN)
    return made


def _page(template: str, **values) -> str:
    return _environment().get_template(template).render(**values)
