"""The pytest plugin: `pytest --nbval notebooks/05_online_softmax.ipynb` grades a student's notebook.

nbval compares what a notebook prints with the outputs stored in it; whoever runs and saves a notebook overwrites them,
and then a wrong answer passes. So for a notebook whose lesson has a solution this plugin replaces nbval's node: cells,
order, checks, hidden checks and stored outputs come from the solution, and from the student come only the answers (see
`classroom.submission`). nbval's comparison decides, in this process, where the student's code never runs.

One test item an exercise, named by its id; it passes when its visible check and its hidden check do. What stands before
it runs first, so `-k`, `--lf` and `notebooks/05_online_softmax.ipynb::5.3` work. After a death or a timeout the kernel
is started again, what ran before is replayed, and the next exercise is graded. The report never shows a hidden check
or an expected value.

The notebooks of `solutions/` stay with nbval; there, cells tagged `gpu` are not compared on a machine without a GPU.
"""

from __future__ import annotations

import copy
import functools
import json
import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

try:
    from nbval.plugin import IPyNbCell, IPyNbFile, coalesce_streams
except ImportError:  # pytest without nbval has no notebooks to grade
    IPyNbCell, IPyNbFile, coalesce_streams = pytest.Item, pytest.File, None

PROPERTY = "tiles"  # the user property of a graded item: lesson, notebook, exercise, points
MESSAGE_CHARACTERS = {"verdict": 1500, "error": 300}

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
_TEMPORARY_FILE = re.compile(r"\(\d+\.py, ")  # the name that a cell's source has while it runs
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


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
        from classroom.kernel import sandbox_problem

        if problem := sandbox_problem():
            raise pytest.UsageError(f"--sandbox on: {problem}")
    if not config.option.nbval_kernel_name:
        config.option.nbval_current_env = True  # solutions run in this Python too, whatever kernels are installed
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
    return bool(re.search(r'"(grade_id"\s*:\s*"exercise-|exercise-\d+\.|#+\s*Exercise \d+\.)', path.read_text(errors="replace")))


class NamelessFile(pytest.File):
    """A notebook with exercises under a name that is no lesson's."""

    def collect(self):
        raise self.CollectError(
            f"{self.path.name} holds exercises, and no lesson has this name. Rename it to the lesson's file name."
        )


class SolutionFile(IPyNbFile):
    """A solved lesson, checked by nbval; without a GPU its cells tagged `gpu` run and are not compared."""

    def collect(self):
        for item in super().collect():
            if "gpu" in item.cell.metadata.get("tags", []) and not has_gpu():
                item.options["check"] = False
            yield item


@functools.cache
def has_gpu() -> bool:
    """Whether torch sees a GPU. Imports torch: asked only where a cell is tagged `gpu`."""
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


class NotPassed(Exception):
    """An exercise that scores nothing; the message is what the student reads."""


class GradedFile(IPyNbFile):
    """A student's notebook, graded against the solved lesson of the same name."""

    sitting: Sitting

    def collect(self):
        from classroom.lesson import read, reference_of
        from classroom.submission import Unreadable, read_answers

        lesson = read(reference_of(self.path, self.config.option.solutions))
        self.nb = lesson.notebook
        try:
            answers, unreadable = read_answers(self.path, lesson), None
        except Unreadable as error:
            answers, unreadable = {}, str(error)
        self.sitting = Sitting(lesson, answers, unreadable, self.config.option)
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
        if any(_CONTROL.search(output.get("text", "")) for output in outputs):
            return False  # nbval drops a line that ends in a carriage return
        printed = [output for output in outputs if output.get("name") != "stderr"]  # a warning is no wrong answer
        return self.compare_outputs(coalesce_streams(printed), coalesce_streams(copy.deepcopy(reference)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo) -> str:
        if isinstance(excinfo.value, NotPassed):
            return str(excinfo.value)
        return f"could not be graded ({type(excinfo.value).__name__}: {shown(str(excinfo.value), 'error')})"

    def reportinfo(self):
        return self.path, None, f"{self.path.stem} exercise {self.name}"


# One notebook in one kernel


@dataclass
class Step:
    """A code cell of the solution, on the way to a verdict. `kind` is None for a given cell."""

    kind: str | None
    cell: object


@dataclass
class Sitting:
    """A student's answers to one lesson, run in a kernel that is started when it is needed, and again when it is gone."""

    lesson: object
    answers: dict
    unreadable: str | None
    option: object
    kernel: object = None
    history: list[str] = field(default_factory=list)  # what a new kernel has to run to be where the old one was
    done: set[str] = field(default_factory=set)
    started: float | None = None

    def grade(self, exercise: str, same) -> str | None:
        """None when the exercise passes, else what the student reads."""
        if self.unreadable:
            return self.unreadable
        if self.started is None:
            self.started = time.monotonic()
        if time.monotonic() > self.started + self.option.notebook_seconds:
            return f"not run: the notebook took longer than {self.option.notebook_seconds:g} s"
        self._catch_up(exercise)
        why = None
        for step in self._steps(exercise):
            if step.kind is None:
                self._given(step.cell.source)
            elif step.kind == "exercise":
                why = self._answer(exercise)
            elif not why:
                why = self._check(step, exercise, same)
        self.done.add(exercise)
        return why

    def _catch_up(self, exercise: str) -> None:
        """Runs what the notebook holds before an exercise, where its items were not selected."""
        for other in self.lesson.exercises:
            if other == exercise:
                return
            if other not in self.done:
                self.done.add(other)
                for step in self._steps(other):
                    if step.kind is None:
                        self._given(step.cell.source)
                    elif step.kind == "exercise":
                        self._answer(other)

    def _steps(self, exercise: str) -> list[Step]:
        """The exercise's own cells, and the given cells that stand before each of them, in the solution's order."""
        from classroom.lesson import role

        steps, given = [], []
        for cell in self.lesson.notebook.cells:
            if cell.cell_type != "code":
                continue
            kind, id_ = role(cell)
            if kind is None:
                given.append(Step(None, cell))
                continue
            if id_ == exercise:
                steps += [*given, Step(kind, cell)]
            given = []
        return steps

    def _given(self, source: str) -> None:
        """A cell of the lesson itself: it may fail over a wrong answer, and is not graded."""
        self._execute(source, remember=True)

    def _answer(self, exercise: str) -> str | None:
        """Runs the student's answer; what is wrong with it already, or None."""
        from classroom.derive import blanks, student_source
        from classroom.submission import is_untouched

        answer = self.answers[exercise]
        if answer.source is None:
            return answer.problem
        blank = student_source(self.lesson.exercises[exercise].answer.source)
        for helper in answer.before:
            self._execute(helper, remember=True)
        outcome = self._execute(answer.source, remember=True)
        for helper in answer.after:
            self._execute(helper, remember=True)
        left = blanks(answer.source)
        if is_untouched(answer.source, blank) or len(left) >= len(blanks(blank)) > 0:
            return "not written yet"
        if left:
            return _blanks_left(answer.source, left)
        return None if outcome.ok else self._failure(outcome, exercise, "its cell")

    def _check(self, step: Step, exercise: str, same) -> str | None:
        """Runs a check of the solution; None when it prints what it prints for the solution."""
        tags = step.cell.metadata.get("tags", [])
        compared = "nbval-ignore-output" not in tags and ("gpu" not in tags or has_gpu())
        outcome = self._execute(step.cell.source)
        right = outcome.ok and (not compared or (not outcome.truncated and same(outcome.outputs, step.cell.outputs)))
        if right:
            return None
        if step.kind == "hidden-check":
            return self._hidden_failure(outcome)
        if not outcome.ok:
            return self._failure(outcome, exercise, "its check")
        if _contains(outcome.outputs, step.cell.outputs):
            return "the check passes, and more is printed than the check prints: remove the print from your answer"
        return "the check does not print the line that it should"

    def _hidden_failure(self, outcome) -> str:
        """Tells nothing of the hidden case but the kind of failure."""
        if outcome.gone:
            return "right on the cases that you see; on a hidden one " + self._gone(outcome)
        how = "it raises an error" if not outcome.ok else "the result is wrong"
        return f"right on the cases that you see; on a hidden one {how}: try other sizes and values"

    def _failure(self, outcome, exercise: str, what: str) -> str:
        if outcome.gone:
            return f"{what} {self._gone(outcome)}"
        from classroom.derive import BLANK

        if outcome.error is None:
            return f"{what} failed, and the error was not shown: the display of errors was changed"
        name, text = outcome.error
        if f"name '{BLANK}' is not defined" in text:
            return f"{what} uses an answer that still has a blank"
        if any(line in text for line in self._secrets):
            return f"{what} raised {shown(name, 'error')}"
        if text.startswith(f"Exercise {exercise} ") or name in ("NotYet", "BlankLeft"):
            return shown(text, "verdict")
        return shown(f"{what} raised {name}: {_TEMPORARY_FILE.sub('(', text)}", "error")

    @functools.cached_property
    def _secrets(self) -> list[str]:
        """Lines of hidden checks and of what they print; an error text that holds one is not shown."""
        return [line for line in self.lesson.hidden_lines if len(line) >= 8]

    def _gone(self, outcome) -> str:
        seconds = self.option.cell_seconds
        reasons = {"died": "kills the kernel", "timeout": f"takes longer than {seconds:g} s", "flood": "prints without end"}
        return reasons[outcome.status]

    def _execute(self, source: str, remember: bool = False):
        """Runs a cell. `remember` puts it among what is replayed after a death, unless it was the one that killed."""
        kernel = self._running_kernel()
        left = self.started + self.option.notebook_seconds - time.monotonic()
        outcome = kernel.execute(source, max(1.0, min(self.option.cell_seconds, left)))
        if remember and not outcome.gone:
            self.history.append(source)
        return outcome

    def _running_kernel(self):
        """The kernel, started and brought up to date if need be; a cell that kills it on the way is forgotten."""
        while self.kernel is None or not self.kernel.alive():
            self.stop()
            self.kernel = self._new_kernel()
            for source in list(self.history):
                if self.kernel.execute(source, self.option.cell_seconds).gone:
                    self.history.remove(source)
                    break
        return self.kernel

    def _new_kernel(self):
        from classroom.kernel import Kernel, sandbox_problem

        sandbox = self.option.sandbox != "off" and sandbox_problem() is None
        return Kernel(sandbox=sandbox, startup_seconds=self.option.nbval_kernel_startup_timeout)

    def stop(self) -> None:
        """Ends the kernel, if one runs."""
        if self.kernel is not None:
            self.kernel.stop()
            self.kernel = None


def _blanks_left(source: str, left: list[int]) -> str:
    lines = source.split("\n")
    places = "; ".join(f"line {line}, `{lines[line - 1].split('  #')[0].strip()}`" for line in dict.fromkeys(left))
    return shown(f"not written yet: {len(left)} blank{'s' if len(left) > 1 else ''} left: {places}", "error")


def _contains(outputs: list, reference: list) -> bool:
    """Whether all that a check should print stands among what was printed."""
    printed = "".join(output.get("text", "") for output in outputs)
    return all(output.get("text", "") in printed for output in reference)


def shown(text: str, kind: str) -> str:
    """A student's text, fit for a report: no control characters, not too long. `kind` is "verdict" or "error"."""
    text = _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", _ANSI.sub("", text)).strip()
    most = MESSAGE_CHARACTERS[kind]
    return text if len(text) <= most else f"{text[:most]} …"


# The report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport):
    """A graded exercise that did not pass is "not yet": counted, and told in the report's own section."""
    if PROPERTY in dict(report.user_properties) and report.when == "call":
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
            from classroom.kernel import sandbox_note

            if note := sandbox_note(self.config.option.sandbox):
                terminalreporter.write_line(f"note: {note}")


def _title(path: str, config: pytest.Config) -> str:
    relative = os.path.relpath(path, config.invocation_params.dir)
    return path if relative.startswith("..") else relative


def _line(exercise: dict) -> str:
    """ "5.3 passed, 2 points" or "5.4 not yet: …", with further lines indented."""
    if exercise["passed"]:
        points = exercise["max"]
        return f"{exercise['exercise']} passed, {points} point{'s' if points > 1 else ''}"
    message = exercise["message"].removeprefix(f"Exercise {exercise['exercise']} is not right yet: ")
    verdict = message if message.startswith("not written yet") else f"not yet: {message}"
    return f"{exercise['exercise']} " + verdict.replace("\n", "\n    ")
