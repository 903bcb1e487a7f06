"""The pytest plugin: `pytest --nbval notebooks/05_online_softmax.ipynb` grades a student's notebook.

nbval compares what a notebook prints with the outputs stored in it; whoever runs and saves a notebook overwrites them,
and then a wrong answer passes. So for a notebook whose lesson has a solution this plugin replaces nbval's node: cells,
order, checks, hidden checks and stored outputs come from the solution, and from the student come only the answers (see
`classroom.submission`). nbval's comparison decides, in this process, where the student's code never runs.

One test item an exercise, named by its id; it passes when its visible check and its hidden check do. What stands before
it runs first, so `-k`, `--lf` and `notebooks/05_online_softmax.ipynb::5.3` work. After a death or a timeout the kernel
is started again, what ran before is replayed, and the next exercise is graded.

The report never shows a hidden check or an expected value: of a hidden check it tells only how it failed, and an error
text of the student's that quotes one is left out. An answer that looks at its caller, and encodes what it saw, could
still tell it in a later message; so hidden inputs should be ordinary cases, worth nothing once known.

The notebooks of `solutions/` stay with nbval; there, cells tagged `gpu` are not compared on a machine without a GPU.
"""

from __future__ import annotations

import copy
import json
import os
import re
from pathlib import Path

import pytest

try:
    from nbval.plugin import IPyNbCell, IPyNbFile, coalesce_streams
except ImportError:  # pytest without nbval has no notebooks to grade
    IPyNbCell, IPyNbFile, coalesce_streams = pytest.Item, pytest.File, None

PROPERTY = "tiles"  # the user property of a graded item: lesson, notebook, exercise, points
UNGRADED = "could not be graded"  # begins the message where the grader failed, not the student
SOLUTION_CELL_SECONDS = 300

# The metadata, the tag or the first line of an exercise cell, in a notebook's JSON
_EXERCISE = re.compile(r'"(grade_id"\s*:\s*"exercise-\d+-c?\d+|exercise-\d+\.c?\d+[a-z]?"|# Exercise \d+\.c?\d+[a-z]?(\\n|"))')


# Options


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tiles", "grading of lessons (with --nbval)")
    group.addoption("--grade-json", metavar="FILE", help="write the grades to FILE")
    group.addoption(
        "--sandbox", choices=["auto", "on", "off"], default="auto", help="run answers under bubblewrap (default: where it works)"
    )
    group.addoption("--cell-seconds", type=float, default=60, help="limit for one cell (default: 60)")
    group.addoption("--notebook-seconds", type=float, default=600, help="limit for one notebook (default: 600)")
    group.addoption("--solutions", metavar="DIR", type=Path, help="where the solved lessons are (default: beside notebooks/)")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """A notebook is one kernel, so with `-n` all its exercises go to one worker."""
    option = config.option
    if _grading(config) and getattr(option, "numprocesses", None) and option.dist in ("no", "load"):
        option.dist = "loadfile"


def pytest_configure(config: pytest.Config) -> None:
    if not _grading(config):
        return
    if config.option.sandbox == "on":
        from classroom.sandbox import sandbox_problem

        if problem := sandbox_problem():
            raise pytest.UsageError(f"--sandbox on: {problem}")
    if not config.option.nbval_kernel_name:
        config.option.nbval_current_env = True  # solutions run in this Python too, whatever kernels are installed
    # nbval waits for a dead kernel until this limit, and its default is more than half an hour
    config.option.nbval_cell_timeout = min(config.option.nbval_cell_timeout, SOLUTION_CELL_SECONDS)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(config), "tiles-report")


def _grading(config: pytest.Config) -> bool:
    return bool(getattr(config.option, "nbval", False) or getattr(config.option, "nbval_lax", False))


# Collection


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector):
    nodes = yield
    if file_path.suffix != ".ipynb" or not any(isinstance(node, IPyNbFile) for node in nodes):
        return nodes
    from classroom.lesson import SOLUTIONS, reference_of

    if file_path.parent.name == SOLUTIONS:
        replacement = SolutionFile
    elif reference_of(file_path, parent.config.option.solutions):
        replacement = GradedFile
    elif _looks_like_a_lesson(file_path):
        replacement = NamelessFile
    else:
        return nodes
    return [replacement.from_parent(parent, path=file_path) if isinstance(node, IPyNbFile) else node for node in nodes]


def _looks_like_a_lesson(path: Path) -> bool:
    """Whether a notebook holds exercises; nbval alone would let it grade itself."""
    return bool(_EXERCISE.search(path.read_text(errors="replace")))


class NamelessFile(pytest.File):
    """A notebook with exercises under a name that is no lesson's."""

    def collect(self):
        raise self.CollectError(
            f"{self.path.name} holds exercises, and no lesson has this name. Rename it to the lesson's file name."
        )


class SolutionFile(IPyNbFile):
    """A solved lesson, checked by nbval; without a GPU its cells tagged `gpu` run and are not compared."""

    def collect(self):
        from classroom.sitting import has_gpu

        for item in super().collect():
            if "gpu" in item.cell.metadata.get("tags", []) and not has_gpu():
                item.options["check"] = False
            yield item


class NotPassed(Exception):
    """An exercise that scores nothing; the message is what the student reads."""


class GradedFile(IPyNbFile):
    """A student's notebook, graded against the solved lesson of the same name."""

    def collect(self):
        from classroom.lesson import LessonError, read_once, reference_of
        from classroom.sitting import Limits, Sitting
        from classroom.submission import Unreadable, read_answers

        try:
            lesson = read_once(reference_of(self.path, self.config.option.solutions))
        except LessonError as error:
            raise self.CollectError(str(error)) from None
        self.nb = lesson.notebook
        try:
            answers, unreadable = read_answers(self.path, lesson), None
        except Unreadable as error:
            answers, unreadable = {}, str(error)
        option = self.config.option
        limits = Limits(option.cell_seconds, option.notebook_seconds, option.nbval_kernel_startup_timeout)
        self.sitting = Sitting(lesson, answers, unreadable, option.sandbox, limits)
        for exercise in lesson.exercises.values():
            item = GradedExercise.from_parent(self, name=exercise.id, cell_num=0, cell=exercise.answer, options={"skip": False})
            record = {"lesson": lesson.name, "notebook": str(self.path), "exercise": exercise.id, "max": exercise.points}
            item.user_properties.append((PROPERTY, record))
            yield item

    def setup(self) -> None:
        self.setup_sanitize_files()

    def teardown(self) -> None:
        self.sitting.stop()


class GradedExercise(IPyNbCell):
    """One exercise of a student's notebook."""

    def setup(self) -> None:
        pass

    def runtest(self) -> None:
        if message := self.parent.sitting.grade(self.name, self._same):
            raise NotPassed(message)

    def _same(self, outputs: list, reference: list) -> bool:
        """nbval's comparison of what a check printed with what it prints for the solution."""
        from classroom.sitting import CONTROL

        if any(CONTROL.search(output.get("text", "")) for output in outputs):
            return False  # nbval drops a line that ends in a carriage return
        printed = [output for output in outputs if output.get("name") != "stderr"]  # a warning is no wrong answer
        return self.compare_outputs(coalesce_streams(printed), coalesce_streams(copy.deepcopy(reference)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo) -> str:
        if isinstance(excinfo.value, NotPassed):
            return str(excinfo.value)
        from classroom.sitting import shown

        return f"{UNGRADED} ({type(excinfo.value).__name__}: {shown(str(excinfo.value), 'error')})"

    def reportinfo(self):
        return self.path, None, f"{self.path.stem} exercise {self.name}"


# The report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport):
    """A graded exercise that did not pass is "not yet": counted, and told in the report's own section."""
    if PROPERTY in dict(getattr(report, "user_properties", ())) and report.when == "call":
        return ("passed", ".", "PASSED") if report.passed else ("not yet", "-", "NOT YET")
    return None


class Report:
    """Collects the verdicts in the main process and tells them: a section a notebook, one line an exercise, the total."""

    def __init__(self, config: pytest.Config):
        self.config = config
        self.notebooks: dict[str, dict] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        record = dict(report.user_properties).get(PROPERTY)
        if record is None or (report.when == "teardown" or (report.when == "setup" and report.passed)):
            return
        passed = report.when == "call" and report.outcome == "passed" and not hasattr(report, "wasxfail")
        message = "" if passed else str(report.longrepr or report.outcome)
        exercise = {
            "exercise": record["exercise"],
            "passed": passed,
            "score": record["max"] if passed else 0,
            "max": record["max"],
        }
        notebook = self.notebooks.setdefault(record["notebook"], {"lesson": record["lesson"], "exercises": {}})
        notebook["exercises"][record["exercise"]] = {**exercise, "message": message}

    def grades(self) -> list[dict]:
        """One dictionary a notebook: {"notebook", "lesson", "score", "max", "exercises": [{"exercise", "passed", …}, …]}."""
        found = []
        for path, notebook in sorted(self.notebooks.items()):
            exercises = list(notebook["exercises"].values())
            totals = {"score": sum(e["score"] for e in exercises), "max": sum(e["max"] for e in exercises)}
            found.append({"notebook": path, "lesson": notebook["lesson"], **totals, "exercises": exercises})
        return found

    def pytest_sessionfinish(self) -> None:
        if self.config.option.grade_json:
            from classroom.lesson import write_if_changed

            write_if_changed(Path(self.config.option.grade_json), json.dumps(self.grades(), indent=1, ensure_ascii=False) + "\n")

    def pytest_terminal_summary(self, terminalreporter) -> None:
        for notebook in self.grades():
            terminalreporter.section(_title(notebook["notebook"], self.config))
            for exercise in notebook["exercises"]:
                passed = exercise["passed"]
                terminalreporter.write_line(_line(exercise), green=passed, yellow=not passed)
            terminalreporter.write_line(f"{notebook['score']} of {notebook['max']} points")
        if self.notebooks:
            from classroom import sandbox

            if note := sandbox.note(self.config.option.sandbox):
                terminalreporter.write_line(f"note: {note}")


def _title(path: str, config: pytest.Config) -> str:
    relative = os.path.relpath(path, config.invocation_params.dir)
    return path if relative.startswith("..") else relative


def _line(exercise: dict) -> str:
    """ "5.3 passed, 2 points" or "5.4 not yet: …", with further lines indented; a verdict's own "Exercise 5.4" is left out."""
    if exercise["passed"]:
        points = exercise["max"]
        return f"{exercise['exercise']} passed, {points} point{'s' if points > 1 else ''}"
    message = re.sub(rf"^Exercise {re.escape(exercise['exercise'])}( is not right yet[:.]|:)\s+", "", exercise["message"])
    verdict = message if message.startswith("not written yet") else f"not yet: {message}"
    return f"{exercise['exercise']} " + verdict.replace("\n", "\n    ")
