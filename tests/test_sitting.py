"""A sitting alone: what checks define stays there, and what a lesson defines keeps its meaning."""

from pathlib import Path

import nbformat
import pytest

from classroom.lesson import parse
from classroom.sitting import Limits, Sitting
from classroom.submission import MAX_CELLS, MAX_TEXT, Answer, Unreadable, read_answers

GIVEN = """
def check(right):
    if not right:
        raise AssertionError("Exercise is not right yet")
    print("passed")
"""
ANSWERS = {
    "5.1": "# Exercise 5.1\ndef double(x):\n    return 2 * x  # ______ twice x",
    "5.2": "# Exercise 5.2\ndef triple(x):\n    return 3 * x  # ______ three times x",
}
CHECKS = {
    "5.1": "import math\nlimit = 3\nlimits = [limit]\nlimits += [4]\nfar = double(1)\ndef near(a, b):\n    return abs(a - b) < limit\n"
    "check(near(double(2), 4))",
    "5.2": "check(near(triple(2), 6) and limits == [3, 4] and math.pi > limit)",
}
HIDDEN = {
    "5.1": "import json\nsecret = 11\ndef shown(x):\n    return json.dumps(x)\nprint(shown(double(secret)))",
    "5.2": "print(shown(triple(5)), json.dumps(1))",
}
PRINTED = {"check": {"5.1": "passed\n", "5.2": "passed\n"}, "hidden-check": {"5.1": "22\n", "5.2": "15 1\n"}}


@pytest.fixture(scope="module")
def lesson():
    v4 = nbformat.v4
    cells = [v4.new_code_cell(GIVEN)]
    for exercise, source in ANSWERS.items():
        cells.append(v4.new_code_cell(source, metadata={"tags": [f"exercise-{exercise}"]}))
        for kind, sources in (("check", CHECKS), ("hidden-check", HIDDEN)):
            cell = v4.new_code_cell(sources[exercise], metadata={"tags": [f"{kind}-{exercise}"]})
            cell.outputs = [v4.new_output("stream", text=PRINTED[kind][exercise])]
            cells.append(cell)
    return parse(v4.new_notebook(cells=cells), Path("05_small.ipynb"))


def same(printed, stored) -> bool:
    return "".join(o.get("text", "") for o in printed) == "".join(o.get("text", "") for o in stored)


def graded(lesson, exercises=("5.1", "5.2"), **answers) -> dict[str, str | None]:
    """Verdicts on answers: e5_1="source"."""
    given = ANSWERS | {name[1:].replace("_", "."): source for name, source in answers.items()}
    sitting = Sitting(lesson, {id_: Answer(source) for id_, source in given.items()}, sandbox="off", limits=Limits(cell=5))
    try:
        return {exercise: sitting.grade(exercise, same) for exercise in exercises}
    finally:
        sitting.stop()


@pytest.mark.parametrize(
    "answer, words",
    [
        ("# Exercise 5.1\ndef double(x):\n    return 2 * x", None),
        ("# Exercise 5.1\ndef double(x):\n    return ______  # twice x", "not written yet"),
        ("# Exercise 5.1\ndef double(x):\n    return 3 * x if x == 11 else 2 * x", "on a hidden one the result is wrong"),
        ("# Exercise 5.1\ndef double(x):\n    return 50 * x", "Exercise is not right yet"),
        ("# Exercise 5.1\ndef double(x):\n    import os\n    os._exit(1)", "kills the kernel"),
        ("# Exercise 5.1\nimport os\nos._exit(1)", "kills the kernel"),
        ("# Exercise 5.1\ndef double(x):\n    while x < 11: pass\n    return 22", "takes longer than 5 s"),
        ("# Exercise 5.1\ndef check(right):\n    print('passed')\ndouble = None", "gives another meaning to check"),
    ],
)
def test_what_a_check_defines_is_there_for_later_ones(lesson, answer, words):
    verdicts = graded(lesson, e5_1=answer)
    assert verdicts["5.2"] is None
    assert words in verdicts["5.1"] if words else verdicts["5.1"] is None


def test_an_exercise_that_is_selected_alone(lesson):
    assert graded(lesson, exercises=["5.2"]) == {"5.2": None}


def test_a_kernel_that_dies_later_has_the_definitions_again(lesson):
    verdicts = graded(lesson, e5_2="# Exercise 5.2\ndef triple(x):\n    import os\n    if x == 5: os._exit(1)\n    return 3 * x")
    assert verdicts["5.1"] is None and "on a hidden one kills the kernel" in verdicts["5.2"]


@pytest.mark.parametrize(
    "source, names",
    [
        ("def near(a, b):\n    return True", "near, a name"),
        ("import cmath as math\ncheck = print", "check, math, names"),
        ("check.__code__ = (lambda right: print('passed')).__code__", "check, a name"),
        ("globals()['near'] = max", "near, a name"),
    ],
)
def test_a_name_of_the_lesson_is_not_for_an_answer(lesson, source, names):
    verdicts = graded(lesson, e5_2=f"{ANSWERS['5.2']}\n{source}")
    assert verdicts["5.2"] == f"its cell gives another meaning to {names} of the lesson's own cells: choose another name"
    assert verdicts["5.1"] is None


def test_names_that_are_free(lesson):
    free = "import math\nlimit = 3\ndef shown(x):\n    check = x\n    return check\ndef helper(near):\n    return near"
    assert graded(lesson, e5_2=f"{free}\n{ANSWERS['5.2']}") == {"5.1": None, "5.2": None}


def test_a_check_of_a_later_exercise_takes_no_names(lesson):
    assert graded(lesson, exercises=["5.1"], e5_1=f"{ANSWERS['5.1']}\ntriple = 3") == {"5.1": None}


def test_a_cell_too_deep_to_be_read(lesson):
    verdicts = graded(lesson, exercises=["5.1"], e5_1=f"{ANSWERS['5.1']}\nx = 1{' + 1' * 20_000}")
    assert "nested too deeply" in verdicts["5.1"]


def test_a_helper_nested_deeply_costs_no_exercise(lesson, tmp_path):
    path = tmp_path / "05_small.ipynb"
    sources = ["x = 1" + " + 1" * 1500, *ANSWERS.values()]
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources]), path)
    answers = read_answers(path, lesson)
    assert answers["5.1"].before == sources[:1]
    assert [answers[exercise].source for exercise in ANSWERS] == list(ANSWERS.values())


@pytest.mark.parametrize("source", ["def f(x, x):\n    pass", "nonlocal y", "def f():\n    total = 1\n    global total"])
def test_what_the_compiler_alone_finds(lesson, source):
    verdicts = graded(lesson, e5_1=f"{ANSWERS['5.1']}\n{source}")
    assert verdicts["5.1"].startswith("its cell raised SyntaxError")


@pytest.mark.parametrize("cells", [["x" * (MAX_TEXT + 1)], ["x = 1\n"] * (MAX_CELLS + 1)])
def test_a_notebook_with_too_much_text(lesson, tmp_path, cells):
    path = tmp_path / "05_small.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells]), path)
    with pytest.raises(Unreadable, match="more than 1 MB of text, or are more than 5,000; start from a new copy of the lesson"):
        read_answers(path, lesson)


def test_a_notebook_with_many_cells_is_read_soon(lesson, tmp_path):
    path = tmp_path / "05_small.ipynb"
    sources = [f"x_{number} = {number}" for number in range(MAX_CELLS - 2)] + list(ANSWERS.values())
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources]), path)
    answers = read_answers(path, lesson)
    assert [answers[exercise].source for exercise in ANSWERS] == list(ANSWERS.values())


MUTED = """
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.showtraceback = lambda *a, **k: None
get_ipython().showtraceback = lambda *a, **k: None
def double(x):
    raise ValueError("nobody sees this")
"""
RUN_CELL = """
from IPython.core.interactiveshell import InteractiveShell
original = InteractiveShell.run_cell
def run_cell(self, raw, *a, **k):
    return original(self, "print('passed')" if "check(near(double" in raw else raw, *a, **k)
InteractiveShell.run_cell = run_cell
def double(x):
    return 1 + x
"""


@pytest.mark.parametrize(
    "source, words", [(MUTED, "the display of errors was changed"), (RUN_CELL, "on a hidden one")], ids=["muted", "run_cell"]
)
def test_who_gets_past_the_fence_does_not_pass(lesson, monkeypatch, source, words):
    monkeypatch.setattr("classroom.sitting.reaches", lambda source: [])
    assert words in graded(lesson, ("5.1",), e5_1="# Exercise 5.1" + source)["5.1"]
