"""Every check against answers: wrong ones must be rejected with the right words, unusual right ones must pass.

tests/answers/LESSON/EXERCISE/wrong_*.py and right_*.py each replace the exercise's cell. The first lines of a wrong one,
`# expects: words`, are what its message must contain. The lesson is executed once, and each answer runs in a fork of it.
"""

import contextlib
import gc
import io
import linecache
import os
import signal
import sys
import traceback
import types
from functools import lru_cache
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.answers
os.environ.setdefault("MPLBACKEND", "Agg")
if "torch" not in sys.modules:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # a fork cannot use the GPU of its parent

ROOT = Path(__file__).resolve().parent.parent
ANSWERS = Path(__file__).parent / "answers"
SECONDS = 120
FILES = sorted((p for kind in ("wrong", "right") for p in ANSWERS.glob(f"*/*/{kind}_*.py")), reverse=True)  # slow lessons first
BY_LESSON = [pytest.param(path, marks=pytest.mark.xdist_group(path.parent.parent.name)) for path in FILES]  # executed once each


class Lesson:
    """A solved lesson, executed cell by cell in a module of its own."""

    def __init__(self, name: str):
        self.name = name
        self.module = types.ModuleType("__main__")
        self.cells = [c for c in nbformat.read(ROOT / "solutions" / f"{name}.ipynb", 4).cells if c.cell_type == "code"]
        for number, cell in enumerate(self.cells):
            self.execute(cell.source, f"cell_{number}")

    def cell(self, tag: str) -> nbformat.NotebookNode:
        return next(c for c in self.cells if tag in c.metadata.get("tags", []))

    def execute(self, source: str, title: str) -> str:
        """Run source as a cell, with lines that a traceback (and Triton) can find. Returns what it prints."""
        file = f"/{self.name}/{title}.py"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, file, "exec"), self.module.__dict__)
        return printed.getvalue()


@lru_cache(maxsize=1)
def executed(lesson: str) -> Lesson:
    import matplotlib.pyplot as plt
    import torch

    torch.set_num_threads(1)  # a torch operation hangs in a fork once its parent used several threads
    made = Lesson(lesson)
    plt.close("all")
    gc.collect()
    gc.freeze()  # what a fork does not touch is not copied
    return made


def in_a_fork(work) -> str:
    """What work() returns, run in a forked child. An exception's text comes back as `ExceptionName: text`."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(SECONDS)
        try:
            said = work()
        except BaseException as error:
            known = type(error).__name__ in ("NotYet", "BlankLeft", "KernelError")
            said = f"{type(error).__name__}: {error if known else traceback.format_exc()}"
        with os.fdopen(write, "w") as pipe:
            pipe.write(said)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    status = os.waitpid(child, 0)[1]
    assert status == 0, f"the answer ended its process (status {status}): it ran longer than {SECONDS} s, or crashed"
    return said


def stored_output(cell) -> str:
    return "".join(o.text for o in cell.outputs if o.output_type == "stream")


@pytest.mark.parametrize("path", BY_LESSON, ids=lambda p: f"{p.parent.parent.name[:2]}-{p.parent.name}-{p.stem}")
def test_answer(path):
    lesson, exercise, source = executed(path.parent.parent.name), path.parent.name, path.read_text(encoding="utf-8")
    check, hidden = lesson.cell(f"check-{exercise}"), lesson.cell(f"hidden-check-{exercise}")

    def visible():
        lesson.execute(source, exercise)
        return lesson.execute(check.source, f"check_{exercise}")

    if path.stem.startswith("wrong"):
        said = in_a_fork(visible)
        assert said.startswith(("NotYet: ", "BlankLeft: ")), f"not rejected with a verdict:\n{said}"
        expected = [line[len("# expects:") :].strip() for line in source.splitlines() if line.startswith("# expects:")]
        assert expected, "the first line of a wrong answer says `# expects: words of its message`"
        for words in expected:
            assert words in said, f"the message lacks {words!r}:\n{said}"
    else:
        said = in_a_fork(lambda: visible() + lesson.execute(hidden.source, f"hidden_{exercise}"))
        assert said == stored_output(check) + stored_output(hidden)


def test_every_exercise_has_answers():
    """Five wrong answers and one unusual right one for each exercise (concept questions aside)."""
    short = []
    for notebook in sorted((ROOT / "solutions").glob("*.ipynb")):
        tags = {t for c in nbformat.read(notebook, 4).cells for t in c.metadata.get("tags", [])}
        for exercise in sorted(t[len("exercise-") :] for t in tags if t.startswith("exercise-") and ".c" not in t):
            folder = ANSWERS / notebook.stem / exercise
            wrong, right = len(list(folder.glob("wrong_*.py"))), len(list(folder.glob("right_*.py")))
            if wrong < 5 or right < 1:
                short.append(f"{exercise}: {wrong} wrong, {right} right")
    assert not short
