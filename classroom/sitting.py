"""One student's answers to one lesson, run in a kernel and judged exercise by exercise.

The cells run in the solution's order: given cells, the student's answer, the visible check, the hidden check. What runs
is remembered; when the kernel dies, hangs or prints without end, a new one is started, what ran before is replayed, and
the next exercise is graded. What no verdict asks for does not run: figures of which nobody uses a name, and what stands
behind the last answer that was written. The messages are written for the student, and tell nothing of hidden checks.

What checks import and define is there for later ones, also where a check does not run. An answer may not give it, nor
what given cells import and define, another meaning: its cell is not run then.

An exercise that uses what an earlier one defined, and fails after that one did, is told so and nothing else: the verdict
on its values would look for the cause in the wrong cell.
"""

from __future__ import annotations

import ast
import functools
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from nbformat import NotebookNode

from classroom import bindings, sandbox
from classroom.derive import BLANK, blanks, student_source
from classroom.kernel import Kernel, Outcome
from classroom.lesson import CHECK, EXERCISE, HIDDEN, Lesson, role, tags
from classroom.reach import reaches
from classroom.submission import (
    Answer,
    defined_functions,
    definitions,
    is_untouched,
    names,
    read_and_assigned,
    statements,
    used_names,
)

MESSAGE_CHARACTERS = {"verdict": 1500, "error": 300}

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
_TEMPORARY_FILE = re.compile(r"\(\d+\.py, ")  # the name that a cell's source has while it runs
_IN_CELL = re.compile(r"Cell In\[\d+\], line (\d+)")  # in a traceback; the first one is the line of the cell that ran
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

Same = Callable[[list[NotebookNode], list[NotebookNode]], bool]


@dataclass(frozen=True)
class Limits:
    """In seconds: for one cell, for the whole notebook, for the start of a kernel."""

    cell: float = 60
    notebook: float = 600
    start: float = 60


@dataclass
class Step:
    """A code cell of the solution, on the way to a verdict. `kind` is its role, None for a given cell."""

    kind: str | None
    cell: NotebookNode


@dataclass
class Sitting:
    """A student's answers to one lesson, run in a kernel that is started when it is needed, and again when it is gone.

    `unreadable` says why there are no answers, where there are none. `sandbox` is "auto", "on" or "off".
    """

    lesson: Lesson
    answers: dict[str, Answer]
    unreadable: str | None = None
    sandbox: str = "auto"
    limits: Limits = field(default_factory=Limits)
    kernel: Kernel | None = None
    history: list[str] = field(default_factory=list)  # what a new kernel has to run to be where the old one was
    waiting: list[str] = field(default_factory=list)  # what has to run before anything else does
    done: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)  # exercises that did not pass, and what the student read
    deadline: float | None = None

    def grade(self, exercise: str, same: Same) -> str | None:
        """None when the exercise passes, else what the student reads.

        `same(printed, stored)` says whether a check printed what is stored in the solution.
        """
        if self.unreadable:
            return self.unreadable
        if self.deadline is None:
            self.deadline = time.monotonic() + self.limits.notebook
        if time.monotonic() > self.deadline:
            return f"not run: the notebook took longer than {self.limits.notebook:g} s"
        self._catch_up(exercise)
        self.done.add(exercise)
        why = self._grade(exercise, same)
        if why and (letter := _unquoted_letter(self.answers[exercise].source or "")):
            why = f'write the letter in quotes: "{letter}"'
        if why:
            self.failed[exercise] = why
        return why

    def _grade(self, exercise: str, same: Same) -> str | None:
        """The verdict on an exercise before which everything has run."""
        why = None
        for step in self._steps(exercise):
            if step.kind is None:
                self.waiting.append(step.cell.source)  # it may fail over a wrong answer; the check will tell
            elif step.kind == EXERCISE:
                why = self._answer(exercise)
            elif why:
                self._define(step)
            elif why := self._check(step, exercise, same):
                why = self._because_of_an_earlier_one(exercise) or why
        return why

    def _because_of_an_earlier_one(self, exercise: str) -> str | None:
        """What to say when an answer, or its check, uses what a failed exercise was to define; None when neither does."""
        own = self.lesson.exercises[exercise]
        answer = self.answers[exercise]
        texts = [*answer.before, answer.source or "", *answer.after]
        defined = {name for text in texts for name in names(text)} | names(own.answer.source)
        used = _reached(set().union(*map(used_names, [*texts, own.check.source])) - defined, self._given_functions)
        for other in self.lesson.exercises:
            if other == exercise:
                return None
            missing = sorted(used & names(self.lesson.exercises[other].answer.source)) if other in self.failed else []
            if missing:
                unwritten = self.failed[other].startswith("not written yet")
                state, what = ("written", "write") if unwritten else ("right", "mend")
                return f"uses {missing[0]} of exercise {other}, which is not {state} yet: {what} that first"
        return None

    @functools.cached_property
    def _given_functions(self) -> dict[str, frozenset[str]]:
        """Functions that given cells and visible checks define, with the names that each of them uses."""
        cells = [cell for cell in self.lesson.notebook.cells if cell.cell_type == "code"]
        sources = [cell.source for cell in cells if role(cell)[0] not in (EXERCISE, HIDDEN)]
        return {name: used for source in sources for name, used in defined_functions(source).items()}

    def _catch_up(self, exercise: str) -> None:
        """Runs what the notebook holds before an exercise, where its items were not selected."""
        for other in self.lesson.exercises:
            if other == exercise:
                return
            if other not in self.done:
                self.done.add(other)
                for step in self._steps(other):
                    if step.kind is None:
                        self.waiting.append(step.cell.source)
                    elif step.kind == EXERCISE:
                        self._answer(other)
                    else:
                        self._define(step)

    def _steps(self, exercise: str) -> list[Step]:
        """The exercise's own cells, and the given cells that stand before each of them, in the solution's order."""
        steps, given = [], []
        for cell in self.lesson.notebook.cells:
            if cell.cell_type != "code":
                continue
            kind, id_ = role(cell)
            if kind is None:
                if cell.source not in self._for_show:
                    given.append(Step(None, cell))
                continue
            if id_ == exercise:
                steps += [*given, Step(kind, cell)]
            given = []
        return steps

    @functools.cached_property
    def _for_show(self) -> set[str]:
        """The sources of given cells that are figures or measurements, and define nothing that anything else uses."""
        cells = [cell for cell in self.lesson.notebook.cells if cell.cell_type == "code"]
        shows = [cell for cell in cells if role(cell)[0] is None and {"gpu", "nbval-ignore-output"} & set(tags(cell))]
        texts = [text for answer in self.answers.values() for text in (*answer.before, answer.source or "", *answer.after)]
        read = set().union(*(read_and_assigned(text)[0] for text in texts))
        found = set()
        for cell in shows:
            used = read.union(*(used_names(other.source) for other in cells if other is not cell))
            if not read_and_assigned(cell.source)[1] & used:
                found.add(cell.source)
        return found

    def _answer(self, exercise: str) -> str | None:
        """Runs the student's answer; what is wrong with it already, or None."""
        answer = self.answers[exercise]
        if answer.source is None:
            return answer.problem
        blank = student_source(self.lesson.exercises[exercise].answer.source)
        if not is_untouched(answer.source, blank) and (why := self._rebinds(exercise) or self._reaches(exercise)):
            return why
        left = blanks(answer.source)
        if is_untouched(answer.source, blank) or len(left) >= len(blanks(blank)) > 0:
            self.waiting += [*answer.before, answer.source, *answer.after]
            return "not written yet"
        self.waiting += answer.before
        outcome = self._execute(answer.source, remember=True)
        self.waiting += answer.after
        if left:
            return _blanks_left(answer.source, left)
        return None if outcome.ok else self._cell_failure(outcome, exercise, answer.source)

    def _reaches(self, exercise: str) -> str | None:
        """What to say when an answer reaches for what judges it."""
        answer = self.answers[exercise]
        try:
            texts = map(reaches, [*answer.before, answer.source, *answer.after])
            found = list(dict.fromkeys(name for names_ in texts for name in names_))
        except RecursionError as error:
            return str(error)
        return f"its cell uses {', '.join(found[:3])}, which reaches into what checks it: leave that out" if found else None

    def _rebinds(self, exercise: str) -> str | None:
        """What to say when an answer gives another meaning to what cells before its check, or the check, define."""
        answer = self.answers[exercise]
        try:
            taken = bindings.rebound("\n".join([*answer.before, answer.source, *answer.after]), self._own_names(exercise))
        except RecursionError as error:
            return str(error)
        if not taken:
            return None
        what = "names" if len(taken) > 1 else "a name"
        return f"its cell gives another meaning to {', '.join(taken)}, {what} of the lesson's own cells: choose another name"

    def _own_names(self, exercise: str) -> bindings.Forms:
        """What given cells and visible checks import or define, up to the check of an exercise; and `print` and `str`.

        What its own check defines is defined anew there, whatever stands above.
        """
        cells = [cell for cell in self.lesson.notebook.cells if cell.cell_type == "code"]
        own = self.lesson.exercises[exercise]
        last = next(index for index, cell in enumerate(cells) if cell is own.check)
        before = [cell.source for cell in cells[:last] if role(cell)[0] not in (EXERCISE, HIDDEN)]
        imports = [text for text, _ in definitions(own.check.source, (ast.Import, ast.ImportFrom))]
        found = {"print": set(), "str": set(), **bindings.defined([*before, *imports])}
        return {name: forms for name, forms in found.items() if name not in names(own.answer.source)}

    def _define(self, step: Step, run: bool = True) -> None:
        """Keeps what later checks may use of this one: what it imports and defines, and plain assignments if it is visible.

        run: whether it has to be run now, where the check itself has not been.
        """
        asked = set().union(*(names(exercise.answer.source) for exercise in self.lesson.exercises.values()))
        kinds = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
        plain = (ast.Assign, ast.AnnAssign, ast.AugAssign) if step.kind == CHECK else ()
        for text, _ in definitions(step.cell.source, (*kinds, *plain)):
            calls_an_answer = bool(_reached(used_names(text), self._given_functions) & asked)
            if calls_an_answer and not definitions(text, kinds):
                continue
            if run:
                self.waiting.append(text)
            else:
                self.history.append(text)

    def _cell_failure(self, outcome: Outcome, exercise: str, source: str) -> str:
        """What went wrong in the cell of an answer; and where, if what the exercise asks for is already defined there."""
        why = self._failure(outcome, exercise, "its cell")
        if outcome.gone or not outcome.error or outcome.error[0] == "SyntaxError":  # then nothing is defined
            return why
        if line := _line_after_definition(outcome, source, names(self.lesson.exercises[exercise].answer.source)):
            return f"{why}\nin line {line}, after the function was defined: try things out in a cell of its own, not in this one"
        return why

    def _check(self, step: Step, exercise: str, same: Same) -> str | None:
        """Runs a check of the solution; None when it prints what it prints for the solution."""
        tagged = tags(step.cell)
        compared = "nbval-ignore-output" not in tagged and ("gpu" not in tagged or has_gpu())
        outcome = self._execute(step.cell.source)
        self._define(step, run=not (outcome.ok or outcome.gone))
        right = outcome.ok and (not compared or (not outcome.truncated and same(outcome.outputs, step.cell.outputs)))
        if right:
            return None
        if step.kind == HIDDEN:
            return self._hidden_failure(outcome)
        if not outcome.ok:
            return self._failure(outcome, exercise, "its check")
        if _contains(outcome.outputs, step.cell.outputs):
            return "the check passes, and more is printed than the check prints: remove the print from your answer"
        return "the check does not print the line that it should"

    def _hidden_failure(self, outcome: Outcome) -> str:
        """Tells nothing of the hidden case but the kind of failure."""
        if outcome.gone:
            return "right on the cases that you see; on a hidden one " + self._gone(outcome)
        how = "it raises an error" if not outcome.ok else "the result is wrong"
        return f"right on the cases that you see; on a hidden one {how}: try other sizes and values"

    def _failure(self, outcome: Outcome, exercise: str, what: str) -> str:
        if outcome.gone:
            return f"{what} {self._gone(outcome)}"
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

    def _gone(self, outcome: Outcome) -> str:
        reasons = {
            "died": "kills the kernel",
            "timeout": f"takes longer than {self.limits.cell:g} s",
            "flood": "prints without end",
            "memory": f"uses more than {sandbox.memory_limit() >> 30} GB of memory",
            "processes": f"starts more than {sandbox.PROCESSES} processes and threads",
        }
        return reasons[outcome.status]

    def _execute(self, source: str, remember: bool = False) -> Outcome:
        """Runs a cell. `remember` puts it among what is replayed after a death, unless it was the one that killed."""
        while self.waiting:
            self._run(self.waiting.pop(0), remember=True)
        return self._run(source, remember)

    def _run(self, source: str, remember: bool) -> Outcome:
        kernel = self._running_kernel()
        left = self.deadline - time.monotonic()
        outcome = kernel.execute(source, max(1.0, min(self.limits.cell, left)))
        if remember and not outcome.gone:
            self.history.append(source)
        return outcome

    def _running_kernel(self) -> Kernel:
        """The kernel, started and brought up to date if need be; a cell that kills it on the way is forgotten.

        It may come back dead when something the student left behind kills every new one: then no cell runs.
        """
        for _ in range(len(self.history) + 2):
            if self.kernel is not None and self.kernel.alive():
                break
            self.stop()
            level = sandbox.level(self.sandbox)
            self.kernel = Kernel(level=level, prepare=self._imports, startup_seconds=self.limits.start)
            killer = next((source for source in self.history if self.kernel.execute(source, self.limits.cell).gone), None)
            if killer is not None:
                self.history.remove(killer)
        return self.kernel

    @property
    def _imports(self) -> list[str]:
        """What the lesson's given cells import, a statement each."""
        given = [cell.source for cell in self.lesson.notebook.cells if cell.cell_type == "code" and role(cell)[0] is None]
        return [text for source in given for text, _ in definitions(source, (ast.Import, ast.ImportFrom))]

    def stop(self) -> None:
        """Ends the kernel, if one runs."""
        if self.kernel is not None:
            self.kernel.stop()
            self.kernel = None


def _reached(used: set[str], functions: dict[str, set[str]]) -> set[str]:
    """`used`, and the names used in those of the `functions` that it holds, and in those that these hold."""
    found: set[str] = set()
    while used - found:
        found |= used
        used = {name for function in found & set(functions) for name in functions[function]}
    return found


def _unquoted_letter(source: str) -> str | None:
    """The letter of an answer such as `answer_c1 = b`, or None. It may be the name of something, so it raises no error."""
    match = re.search(r"^answer_c\d+ = ([a-z])\b *(#.*)?$", source, re.MULTILINE)
    return match[1] if match else None


def _line_after_definition(outcome: Outcome, source: str, wanted: set[str]) -> int | None:
    """The line of a cell at which it failed, when all functions that it must define stand above that line; or None."""
    shown = [line for output in outcome.outputs if output.output_type == "error" for line in output.get("traceback", [])]
    match = _IN_CELL.search(_ANSI.sub("", "\n".join(map(str, shown))))
    functions = [node for node in statements(source) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    ends = [node.end_lineno for node in functions if node.name in wanted]
    line = int(match[1]) if match else None
    return line if line and ends and len(ends) >= len(wanted) and max(ends) < line <= source.count("\n") + 1 else None


def _blanks_left(source: str, left: list[int]) -> str:
    lines = source.split("\n")
    places = "; ".join(f"line {line}, `{lines[line - 1].split('  #')[0].strip()}`" for line in dict.fromkeys(left))
    return shown(f"not written yet: {len(left)} blank{'s' if len(left) > 1 else ''} left: {places}", "error")


def _contains(outputs: list[NotebookNode], reference: list[NotebookNode]) -> bool:
    """Whether all that a check should print stands among what was printed."""
    printed = "".join(output.get("text", "") for output in outputs)
    return all(output.get("text", "") in printed for output in reference)


def shown(text: str, kind: str) -> str:
    """A student's text, fit for a report: no control characters, not too long. `kind` is "verdict" or "error"."""
    text = CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", _ANSI.sub("", text)).strip()
    most = MESSAGE_CHARACTERS[kind]
    return text if len(text) <= most else f"{text[:most]} …"


@functools.cache
def has_gpu() -> bool:
    """Whether torch sees a GPU. Imports torch: asked only where a cell is tagged `gpu`."""
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()
