"""Grading: all kinds of notebooks that students hand in, in one pytest run, on a small lesson."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from sample_lesson import HIDDEN, NAME, POINTS, SOURCES, make_course

from classroom.derive import student_source
from classroom.plugin import _line
from classroom.sandbox import sandbox_problem
from classroom.submission import used_names

ALL = set(POINTS)
LATER = {"5.3", "5.c1"}  # what is left when 5.1 gives no function, or a wrong one: 5.2 builds on it
OTHERS = ALL - {"5.1"}  # what is left when its function is good enough for 5.2

# In a student's words: right on the visible case, wrong on others.
WRONG = """# Exercise 5.1
def shifted(x):
    m = np.max(x)
    return 2 * (x - m), m
"""
RIGHT = """# Exercise 5.1
def shifted(x):
    m = np.max(x)
    return x - m, m
"""
PASSED = "Exercise 5.1 passed: 3 sizes.\n"

MUTED = """
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.showtraceback = lambda *a, **k: None
get_ipython().showtraceback = lambda *a, **k: None
def shifted(x):
    raise ValueError("nobody sees this")
"""
RUN_CELL = """
from IPython.core.interactiveshell import InteractiveShell
original = InteractiveShell.run_cell
def run_cell(self, raw, *a, **k):
    if 'check("5.1"' in raw:
        raw = 'print("Exercise 5.1 passed: 3 sizes.")'
    return original(self, raw, *a, **k)
InteractiveShell.run_cell = run_cell
"""
SPY = """# Exercise 5.1
import linecache, sys
seen = []
def shifted(x):
    frame = sys._getframe(1)
    seen.append("".join(linecache.getlines(frame.f_code.co_filename)) + repr(x))
    m = np.max(x)
    return x - m, m
"""
SPY_TELLS = "# Exercise 5.2\nraise ValueError(' '.join(seen))"

SUBMISSIONS: dict[str, tuple] = {}  # name: (what makes it, exercises that pass, words of the message of 5.1)


def submission(passing: set[str], words: str = "", name: str | None = None):
    """Registers a function `(Student) -> None`, which changes a right copy of the sample lesson."""

    def register(make):
        SUBMISSIONS[name or make.__name__] = make, passing, words
        return make

    return register


class Student:
    """A student's notebook, filled with right answers, and ways to spoil it."""

    def __init__(self, blank: NotebookNode):
        self.blank = blank
        self.notebook = copy.deepcopy(blank)
        for exercise, source in SOURCES.items():
            self.cell(exercise).source = source.strip()
        self.text: str | None = None  # of a file that is no notebook
        self.file_name = f"{NAME}.ipynb"

    @property
    def cells(self) -> list:
        return self.notebook.cells

    def cell(self, exercise: str, kind: str = "exercise") -> NotebookNode:
        return next(cell for cell in self.cells if f"{kind}-{exercise}" in cell.metadata.get("tags", []))

    def index(self, exercise: str, kind: str = "exercise") -> int:
        return self.cells.index(self.cell(exercise, kind))

    def insert(self, index: int, source: str, like: NotebookNode | None = None) -> NotebookNode:
        new = copy.deepcopy(like) if like else nbformat.v4.new_code_cell()
        new.source, new.id = source, f"new-{len(self.cells)}"
        self.cells.insert(index, new)
        return new

    def answer(self, source: str, exercise: str = "5.1") -> None:
        self.cell(exercise).source = source

    def lose_metadata(self, ids: bool = False) -> None:
        for number, cell in enumerate(self.cells):
            cell.metadata = NotebookNode()
            cell.id = f"other-{number}" if ids else cell.id

    def run_and_save(self, texts: dict[str, str]) -> None:
        """What Jupyter would have stored: outputs of the check cells, and counts."""
        for number, cell in enumerate(cell for cell in self.cells if cell.cell_type == "code"):
            cell.execution_count = number + 1
        for exercise, text in texts.items():
            self.cell(exercise, "check").outputs = [nbformat.v4.new_output("stream", text=text)]


# Honest notebooks


@submission(ALL)
def right(student):
    pass


@submission(set(), "not written yet")
def blank(student):
    student.notebook = student.blank


@submission(LATER, "1 blank left: line 5, `y = ______`")
def one_blank_left(student):
    student.answer(student_source(SOURCES["5.1"].strip()).replace("m = ______", "m = np.max(x)"))


@submission(ALL)
def one_line_version(student):
    student.answer("# Exercise 5.1\nshifted = lambda x: (x - x.max(), x.max())")


@submission(LATER, "on a hidden one the result is wrong")
def wrong_run_and_saved(student):
    student.answer(WRONG)
    student.run_and_save({"5.1": PASSED})


@submission(LATER, "on a hidden one the result is wrong")
def wrong_outputs_stripped(student):
    student.answer(WRONG)
    for cell in student.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


@submission(OTHERS, "Exercise 5.1 is not right yet: n = 3.")
def wrong_outputs_edited(student):
    student.answer(WRONG.replace("2 *", "1 +"))
    student.run_and_save({"5.1": PASSED, "5.2": "Exercise 5.2 passed: 3 sizes.\n"})


@submission(LATER, "on a hidden one the result is wrong")
def check_edited(student):
    student.answer(WRONG)
    student.cell("5.1", "check").source = f"print({PASSED.strip()!r})"


@submission(LATER, "on a hidden one the result is wrong")
def check_deleted(student):
    student.answer(WRONG)
    student.cells.remove(student.cell("5.1", "check"))


@submission(ALL)
def check_deleted_answer_right(student):
    student.cells.remove(student.cell("5.1", "check"))


@submission(ALL)
def exercise_duplicated(student):
    student.insert(student.index("5.1") + 1, student.cell("5.1").source, like=student.cell("5.1"))


@submission(ALL)
def blank_duplicate_before(student):
    student.insert(student.index("5.1"), student_source(SOURCES["5.1"].strip()), like=student.cell("5.1"))


@submission(ALL)
def blank_duplicate_after(student):
    student.insert(student.index("5.1") + 1, student_source(SOURCES["5.1"].strip()), like=student.cell("5.1"))


@submission(LATER)
def wrong_duplicate_after(student):
    student.insert(student.index("5.1") + 1, WRONG, like=student.cell("5.1"))


@submission(ALL)
def exercise_moved_to_the_end(student):
    cell = student.cell("5.1")
    student.cells.remove(cell)
    student.cells.append(cell)


@submission(LATER, "missing from the notebook")
def exercise_deleted(student):
    student.cells.remove(student.cell("5.1"))


@submission(LATER, "Markdown cell")
def exercise_as_markdown(student):
    index, old = student.index("5.1"), student.cell("5.1")
    student.cells[index] = nbformat.v4.new_markdown_cell(old.source, metadata=old.metadata, id=old.id)


@submission(ALL)
def split_with_metadata(student):
    first, second = RIGHT.split("    m =")
    student.answer("    m =" + second)
    student.insert(student.index("5.1"), first.rstrip("\n"), like=student.cell("5.1"))


@submission(ALL)
def split_without_metadata(student):
    first, second = RIGHT.split("    m =")
    student.answer(first.rstrip("\n"))
    student.insert(student.index("5.1") + 1, "    m =" + second)


@submission(ALL)
def split_into_helper_and_answer(student):
    student.answer("# Exercise 5.1\ndef largest(x):\n    return max(x)")
    student.insert(student.index("5.1") + 1, "def shifted(x):\n    return x - largest(x), largest(x)")


USES_HELPER = RIGHT.replace("np.max(x)", "largest(x)")
HELPER = "import math\ndef largest(x):\n    return max(x, default=-math.inf)\n"


@submission(ALL)
def helper_above(student):
    student.answer(USES_HELPER)
    student.insert(student.index("5.1"), HELPER)


@submission(ALL)
def helper_below(student):
    student.answer(USES_HELPER)
    student.insert(student.index("5.1") + 1, HELPER)


@submission(ALL)
def helper_at_the_top_with_scratch(student):
    student.answer(USES_HELPER)
    student.insert(0, HELPER + "\nprint('scratch')\n1/0\nscale = 1 / 0\n")


@submission(ALL)
def helper_in_a_given_cell(student):
    student.answer(USES_HELPER)
    next(cell for cell in student.cells if cell.cell_type == "code").source += "\n\n" + HELPER


@submission(ALL)
def metadata_lost(student):
    student.lose_metadata()


@submission(ALL)
def metadata_and_ids_lost(student):
    student.lose_metadata(ids=True)


@submission(ALL)
def metadata_ids_and_markers_lost(student):
    for exercise in SOURCES:
        student.answer(student.cell(exercise).source.split("\n", 1)[1], exercise)
    student.lose_metadata(ids=True)


@submission(ALL)
def markers_lost(student):
    for exercise in SOURCES:
        student.answer(student.cell(exercise).source.split("\n", 1)[1], exercise)


@submission(ALL)
def from_colab(student):
    student.lose_metadata(ids=True)
    student.notebook.nbformat_minor = 4
    for cell in student.cells:
        cell.pop("id")
        cell.metadata = NotebookNode(id="abc", colab={"base_uri": "x"})


@submission(set(), "not a notebook")
def not_json(student):
    student.text = nbformat.writes(student.notebook)[:500]


@submission(set(), "not a notebook")
def empty_file(student):
    student.text = ""


@submission(set(), "not a notebook")
def not_a_notebook(student):
    student.text = '{"cells": {"exercise-5.1": 1}}'


@submission(set(), "not a notebook")
def merge_conflict(student):
    student.text = nbformat.writes(student.notebook).replace('"nbformat": 4,', '<<<<<<< HEAD\n"nbformat": 4,')


@submission(ALL)
def downloaded_twice(student):
    student.file_name = f"{NAME} (1).ipynb"


@submission(ALL - {"5.c1"})
def wrong_letter(student):
    student.answer('# Exercise 5.c1\nanswer_c1 = "c"', "5.c1")


@submission(LATER, "its cell raised SyntaxError")
def syntax_error(student):
    student.answer(RIGHT + "def (")


@submission(ALL)
def magic_commands(student):
    student.answer(RIGHT + "%time 1\n!echo hi")


@submission(ALL)
def writes_to_stderr(student):
    student.answer(RIGHT.replace("    m =", "    import sys, warnings; print('x', file=sys.stderr); warnings.warn('y')\n    m ="))


@submission(LATER, "remove the print")
def prints_from_the_answer(student):
    student.answer(RIGHT.replace("    m =", "    print('debug')\n    m ="))


@submission(OTHERS, "StdinNotImplementedError")
def asks_for_input(student):
    student.answer(RIGHT + "input('x')")


@submission(OTHERS, "NameError: name 'row' is not defined\nin line 6, after the function was defined")
def scratch_after_the_function(student):
    student.answer(RIGHT + "\nshifted(row)")


@submission(OTHERS, "ValueError: inside")
def scratch_that_fails_inside_the_function(student):
    student.answer(RIGHT.replace("    m =", "    if len(x) == 1: raise ValueError('inside')\n    m =") + "y = 1\nshifted([y])")


@submission(LATER, "name 'row' is not defined")
def scratch_before_the_function(student):
    student.answer(RIGHT.replace("def", "row\ndef"))


@submission({"5.3", "5.c1"})
def wrong_and_a_later_one_wrong_by_itself(student):
    student.answer(WRONG)
    student.answer("# Exercise 5.2\ndef softmax(x):\n    return x", "5.2")


@submission(ALL - {"5.c1"})
def letter_without_quotes(student):
    student.answer("# Exercise 5.c1\nanswer_c1 = c", "5.c1")


@submission(ALL - {"5.c1"})
def letter_without_quotes_that_is_a_name(student):
    student.answer("# Exercise 5.c1\na = 'a'\nanswer_c1 = a  # a letter in quotes", "5.c1")


# Notebooks that break things


@submission(LATER, "its cell kills the kernel")
def kernel_dies_in_the_cell(student):
    student.answer(RIGHT + "import os; os._exit(1)")


@submission(LATER, "its check kills the kernel")
def kernel_dies_in_the_check(student):
    student.answer("# Exercise 5.1\ndef shifted(x):\n    import os; os._exit(1)")


@submission(LATER, "its cell kills the kernel")
def segmentation_fault(student):
    student.answer(RIGHT + "import faulthandler; faulthandler._sigsegv()")


@submission(LATER, "its cell kills the kernel")
def exits(student):
    student.answer(RIGHT + "exit()")


@submission(LATER, "its cell takes longer than 6 s")
def endless_loop(student):
    student.answer(RIGHT + "while True: pass")


@submission(LATER, "its cell takes longer than 6 s")
def endless_loop_that_ignores_interrupts(student):
    student.answer(RIGHT + "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass")


@submission(LATER, "its cell ")
def endless_output(student):
    student.answer(RIGHT + "while True: print('x' * 10_000_000)")


@submission(ALL)
def much_output(student):
    student.answer(RIGHT + "print('x' * 5_000_000)")


@submission(OTHERS, "MemoryError")
def much_memory(student):
    student.answer(RIGHT + "x = bytearray(1 << 46)")


@submission(ALL)
def leaves_a_process(student):
    student.answer(RIGHT + "import os\nif os.fork() == 0:\n    import time; time.sleep(100)")


@submission(LATER)
def closes_files(student):
    student.answer(RIGHT + "import os\nfor f in range(3, 60):\n  try: os.close(f)\n  except OSError: pass")


REACHES = "which reaches into what checks it: leave that out"


@submission(LATER, REACHES)
def mutes_showtraceback(student):
    student.answer("# Exercise 5.1\n" + MUTED)


@submission(LATER, REACHES)
def replaces_run_cell(student):
    student.answer(WRONG.replace("2 *", "1 +") + RUN_CELL)


@submission(LATER, "its cell gives another meaning to check, a name of the lesson's own cells: choose another name")
def replaces_the_check(student):
    student.answer(WRONG.replace("2 *", "1 +") + "\ncheck = lambda ex, *a: print(f'Exercise {ex} passed: 3 sizes.')")


@submission(LATER, "on a hidden one the result is wrong")
def skip_marker(student):
    student.answer(WRONG + "\n# NBVAL_SKIP")


@submission(OTHERS, "on a hidden one it raises an error")
def raises_on_the_hidden_case(student):
    student.answer(RIGHT.replace("    m =", "    if x[0] == 2.5: raise ValueError(x)\n    m ="))


@submission(LATER, REACHES)
def tells_what_it_saw(student):
    student.answer(SPY)
    student.answer(SPY_TELLS, "5.2")


@submission(OTHERS, "\\x08")
def control_characters(student):
    student.answer(RIGHT + "raise ValueError('\\x08\\x1b[31m' + 'long ' * 1000)")


@submission(LATER, "Exercise 5.1 is not right yet: \\x1b")
def control_characters_in_a_verdict(student):
    student.answer("# Exercise 5.1\ndef shifted(x):\n    raise NotYet('Exercise 5.1 is not right yet: \\x1b]0;title')")


@submission(OTHERS, "solutions seen: False network: False" if sandbox_problem() is None else "solutions seen")
def looks_around(student):
    student.answer(
        RIGHT
        + "import os, socket\nsolutions = '@SOLUTIONS@'\nnetwork = True\ntry: socket.create_connection(('192.0.2.1', 9), timeout=0.5)\n"
        + "except OSError as e: network = 'unreachable' not in str(e)\n"
        + "raise ValueError(f'solutions seen: {os.path.exists(solutions)} network: {network}')"
    )


# The run


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("course")
    make_course(root)
    return root


def write_submission(name: str, folder: Path, course: Path) -> None:
    student = Student(nbformat.read(course / "notebooks" / f"{NAME}.ipynb", as_version=4))
    SUBMISSIONS[name][0](student)
    text = student.text if student.text is not None else nbformat.writes(student.notebook)
    path = folder / name / student.file_name
    path.parent.mkdir(parents=True)
    path.write_text(text.replace("@SOLUTIONS@", str(course / "solutions")), encoding="utf-8")


def grade(course: Path, target: Path, *options: str) -> tuple[dict[str, dict], str]:
    """Runs pytest on a folder; ({submission: grades}, all that the run wrote: screen, grades, JUnit report)."""
    grades, junit = target.parent / f"{target.name}.json", target.parent / f"{target.name}.xml"
    command = [sys.executable, "-m", "pytest", "--nbval", str(target), f"--solutions={course / 'solutions'}", "--cell-seconds=6"]
    outputs = [f"--grade-json={grades}", f"--junitxml={junit}", "-p", "no:cacheprovider", *options]
    run = subprocess.run([*command, *outputs], capture_output=True, text=True, cwd=target.parent, timeout=300)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    found = {Path(record["notebook"]).parent.name: record for record in json.loads(grades.read_text())}
    return found, "\n".join([run.stdout, run.stderr, grades.read_text(), junit.read_text()])


@pytest.fixture(scope="module")
def graded(course, tmp_path_factory) -> tuple[dict[str, dict], str]:
    folder = tmp_path_factory.mktemp("batch") / "handed-in"
    for name in SUBMISSIONS:
        write_submission(name, folder, course)
    return grade(course, folder, "-n", "2", "-v", "-rA")


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_submission(graded, name):
    _, passing, words = SUBMISSIONS[name]
    exercises = {e["exercise"]: e for e in graded[0][name]["exercises"]}
    assert set(exercises) == ALL
    assert {id_ for id_, e in exercises.items() if e["passed"]} == passing, exercises
    assert graded[0][name]["score"] == sum(POINTS[id_] for id_ in passing)
    assert graded[0][name]["max"] == sum(POINTS.values())
    assert words in exercises["5.1"]["message"]
    assert "______' is not defined" not in str(exercises)


MESSAGES = {
    "wrong_outputs_stripped": {"5.2": "uses shifted of exercise 5.1, which is not right yet: mend that first"},
    "one_blank_left": {"5.2": "uses shifted of exercise 5.1, which is not written yet: write that first"},
    "exercise_deleted": {"5.2": "uses shifted of exercise 5.1, which is not right yet: mend that first"},
    "wrong_and_a_later_one_wrong_by_itself": {"5.2": "Exercise 5.2 is not right yet: n = 3."},
    "blank": {"5.2": "not written yet"},
    "wrong_letter": {"5.c1": "right on the cases that you see; on a hidden one the result is wrong: try other sizes and values"},
    "letter_without_quotes": {"5.c1": 'write the letter in quotes: "c"'},
    "letter_without_quotes_that_is_a_name": {"5.c1": 'write the letter in quotes: "a"'},
    "scratch_after_the_function": {
        "5.1": "its cell raised NameError: name 'row' is not defined\n"
        "in line 6, after the function was defined: try things out in a cell of its own, not in this one"
    },
    "scratch_before_the_function": {"5.1": "its cell raised NameError: name 'row' is not defined"},
    "scratch_that_fails_inside_the_function": {
        "5.1": "its cell raised ValueError: inside\n"
        "in line 7, after the function was defined: try things out in a cell of its own, not in this one"
    },
}


@pytest.mark.parametrize("name", MESSAGES)
def test_message(graded, name):
    exercises = {e["exercise"]: e["message"] for e in graded[0][name]["exercises"]}
    for exercise, message in MESSAGES[name].items():
        assert exercises[exercise] == message


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("Exercise 5.c1 is not right yet.\n  Look again.", "5.c1 not yet: Look again."),
        ("Exercise 5.c1: the answer is one of the letters a, b.", "5.c1 not yet: the answer is one of the letters a, b."),
        ("Exercise 5.c1 is not right yet: n = 3.\n  1 differs.", "5.c1 not yet: n = 3.\n      1 differs."),
        ("its cell raised ValueError: x", "5.c1 not yet: its cell raised ValueError: x"),
        ("not written yet", "5.c1 not written yet"),
    ],
)
def test_the_report_names_an_exercise_once(message, line):
    assert _line({"exercise": "5.c1", "passed": False, "message": message}) == line


def test_used_names():
    source = "%time 1\ndef f(a, b=one):\n    c = two(a)\n    return [g(d) for d in three if c]\ng = f\nfour.x, five[0] = 1, 2\nimport os\nos"
    assert used_names(source) == {"one", "two", "three", "four", "five"}
    assert used_names("class A:\n    def m(self):\n        return lambda: base(self)") == {"base"}
    assert used_names("x = (") == set() == used_names("y\nnonlocal x")
    assert used_names("f(" + "-" * 50_000 + "x)") == set()


def test_nothing_hidden_is_shown(graded, course):
    report = graded[1]
    notebook = nbformat.read(course / "solutions" / f"{NAME}.ipynb", as_version=4)
    for cell in notebook.cells:
        if any(tag.startswith("hidden-check-") for tag in cell.metadata.get("tags", [])) and "5.c1" not in str(
            cell.metadata.tags
        ):
            for text in [cell.source, *cell.source.splitlines(), *(output.text for output in cell.outputs)]:
                assert text.strip() not in report
    assert "secret_" not in report and HIDDEN["5.3"] not in report


def test_the_report_has_no_control_characters(graded):
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", re.sub(r"\x1b\[[0-9;]*m", "", graded[1]))
    assert len(max((e["message"] for record in graded[0].values() for e in record["exercises"]), key=len)) < 2000


def test_serial_run_says_the_same_and_reads_well(graded, course, tmp_path):
    for name in ("right", "one_blank_left", "kernel_dies_in_the_check"):
        write_submission(name, tmp_path / "handed-in", course)
    found, report = grade(course, tmp_path / "handed-in")
    for name, record in found.items():
        assert record["exercises"] == graded[0][name]["exercises"]
    assert "5.1 passed, 2 points\n5.2 passed, 1 point\n5.3 passed, 1 point\n5.c1 passed, 1 point\n5 of 5 points" in report
    assert "5.1 not written yet: 1 blank left: line 5, `y = ______`" in report
    assert "5.1 not yet: its check kills the kernel" in report
    assert "Traceback" not in report and "8 passed, 4 not yet" in report
    assert ("note: bubblewrap" in report) == (sandbox_problem() is not None)


def test_one_exercise_can_be_selected(course, tmp_path):
    write_submission("right", tmp_path / "handed-in", course)
    found, report = grade(course, tmp_path / "handed-in", "-k", "5.2", "-v", "--sandbox=off")
    assert [e["exercise"] for e in found["right"]["exercises"]] == ["5.2"] and found["right"]["score"] == 1
    assert f"{NAME}.ipynb::5.2 PASSED" in report
    assert "note: --sandbox off was given" in report


def test_student_copy_in_the_course_is_graded_and_solutions_are_compared(course):
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "notebooks", "solutions", "-p", "no:cacheprovider", "-v"],
        capture_output=True,
        text=True,
        cwd=course,
    )
    assert f"notebooks/{NAME}.ipynb::5.1 NOT YET" in run.stdout
    assert "Cell 0 PASSED" in run.stdout and "Cell 14 PASSED" in run.stdout
    assert run.returncode == 1 and "FAILED" not in run.stdout


def test_a_notebook_under_another_name_is_refused(course, tmp_path):
    text = (course / "notebooks" / f"{NAME}.ipynb").read_text()
    (tmp_path / "mine.ipynb").write_text(text)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "mine.ipynb", "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert run.returncode != 0 and "Rename it to the lesson's file name" in run.stdout


def test_without_a_gpu_cells_tagged_gpu_run_and_are_not_compared(course, tmp_path):
    from classroom.sitting import has_gpu

    notebook = nbformat.read(course / "solutions" / f"{NAME}.ipynb", as_version=4)
    notebook.cells[-1].metadata["tags"] = ["gpu"]
    notebook.cells[-1].outputs[0].text = "what another machine prints"
    (tmp_path / "solutions").mkdir()
    nbformat.write(notebook, tmp_path / "solutions" / f"{NAME}.ipynb")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "solutions", "-p", "no:cacheprovider", "-q"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert run.returncode == (1 if has_gpu() else 0), run.stdout
    assert ("15 passed" in run.stdout) != has_gpu()


def test_other_notebooks_stay_with_nbval(tmp_path):
    cells = [nbformat.v4.new_code_cell("# Exercise of another course\nprint(1)", execution_count=1)]
    cells[0].outputs = [nbformat.v4.new_output("stream", text="1\n")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "plain.ipynb")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "plain.ipynb", "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert run.returncode == 0 and "1 passed" in run.stdout and "points" not in run.stdout
