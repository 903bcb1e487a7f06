"""Running solutions: canonical bytes, and errors that say where."""

from __future__ import annotations

import json

import nbformat
import pytest
from sample_lesson import NAME, lesson_notebook

from classroom import __main__ as command
from classroom.execute import canonical, check_canonical, dumps, run
from classroom.lesson import LessonError, from_dashed, sort_key

FIGURE = """
import matplotlib.pyplot as plt
plt.plot([1, 2, 3])
plt.show()
"""


@pytest.fixture
def solution(tmp_path):
    path = tmp_path / "solutions" / f"{NAME}.ipynb"
    path.parent.mkdir()
    return path


def save(notebook, path):
    nbformat.write(notebook, path)
    return path


def with_last_cell(source):
    notebook = lesson_notebook()
    notebook.cells[-1].source = source
    return notebook


def test_a_second_run_changes_no_byte(solution):
    notebook = with_last_cell(FIGURE)
    notebook.cells.append(nbformat.v4.new_code_cell("import os\nprint(os.environ['TILES_AUTHOR'])\nprint('two')\n1 + 1"))
    notebook.metadata["language_info"] = {"name": "python", "version": "3.12.0"}
    notebook.cells[1].metadata["execution"] = {"iopub.execute_input": "2024-01-01"}
    notebook.cells[1].metadata["collapsed"] = True
    save(notebook, solution)
    assert run([solution]) == [(solution, True)]
    first, written = solution.read_bytes(), solution.stat().st_mtime_ns
    assert run([solution]) == [(solution, False)]
    assert solution.read_bytes() == first and solution.stat().st_mtime_ns == written
    assert check_canonical(solution) == []
    for unwanted in (b"iopub", b"3.12.0", b"collapsed", b"matplotlib.org", b"Software"):
        assert unwanted not in first
    data = json.loads(first)
    outputs = data["cells"][-1]["outputs"]
    assert [output["output_type"] for output in outputs] == ["stream", "execute_result"] and outputs[0]["text"] == [
        "1\n",
        "two\n",
    ]
    counts = [cell["execution_count"] for cell in data["cells"] if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert "image/png" in data["cells"][-2]["outputs"][0]["data"]


def test_ids_and_nbgrader_come_from_the_tags():
    notebook = canonical(lesson_notebook())
    by_id = {cell.id: cell for cell in notebook.cells}
    assert len(by_id) == len(notebook.cells)
    assert by_id["exercise-5-1"].metadata.nbgrader == {
        "grade": False, "grade_id": "exercise-5-1", "locked": False, "schema_version": 3, "solution": True, "task": False,
    }  # fmt: skip
    assert by_id["check-5-1"].metadata.nbgrader["points"] == 2 and by_id["check-5-1"].metadata.nbgrader["grade"]
    assert by_id["hidden-check-5-c1"].metadata.nbgrader["points"] == 0
    assert by_id["cell-1"].metadata == {}
    assert dumps(canonical(notebook)) == dumps(notebook)


def test_ids_are_made_unique_and_stay():
    notebook = lesson_notebook()
    notebook.cells[0].id = notebook.cells[1].id = "twice"
    notebook.cells[2].id = "not allowed!"
    ids = [cell.id for cell in canonical(notebook).cells]
    assert len(set(ids)) == len(ids) and ids[0] == "twice"
    assert ids == [cell.id for cell in canonical(canonical(notebook)).cells]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("1 / 0", ["cell 20 (after exercise 5.c1)", "ZeroDivisionError", "1 / 0"]),
        ("import sys\nprint('careful', file=sys.stderr)", ["writes to stderr: careful"]),
        ("object()", ["memory address"]),
        ("import os; os._exit(1)", ["cell 20 (after exercise 5.c1) killed its kernel"]),
        ("import time; time.sleep(60)", ["took longer than 3 s"]),
    ],
    ids=["error", "stderr", "address", "death", "timeout"],
)
def test_what_cannot_be_a_reference_is_refused(solution, source, words):
    before = save(with_last_cell(source), solution).read_bytes()
    with pytest.raises(LessonError) as error:
        run([solution], seconds=3)
    assert all(word in str(error.value) for word in [NAME, *words]), str(error.value)
    assert solution.read_bytes() == before


def test_a_failing_check_names_its_exercise(solution, capsys):
    save(lesson_notebook(e5_2="# Exercise 5.2\nsoftmax = lambda x: x  # ______ hint"), solution)
    assert command.main(["run", "05", "--root", str(solution.parent.parent)]) == 1
    message = capsys.readouterr().err
    assert "(check 5.2) raised NotYet: Exercise 5.2 is not right yet: n = 3." in message and NAME in message


def test_commands(solution, capsys):
    save(with_last_cell("print(1)"), solution)
    root = ["--root", str(solution.parent)]
    assert command.main(["run", "--check", *root]) == 1 and "differs" in capsys.readouterr().out
    assert command.main(["run", *root]) == 0 and "written" in capsys.readouterr().out
    assert command.main(["notebooks", "--check", *root]) == 1 and "make notebooks" in capsys.readouterr().out
    assert command.main(["notebooks", *root]) == 0
    assert command.main(["notebooks", "--check", *root]) == 0
    assert command.main(["run", "nothing", *root]) == 1 and "The lessons are: 05_sample" in capsys.readouterr().err
    saved = nbformat.read(solution, as_version=4)
    saved.cells[1].execution_count = 7
    save(saved, solution)
    assert "saved after its last run" in check_canonical(solution)[0]
    edited = nbformat.read(solution, as_version=4)
    edited.cells[-1].source = "print(2)"
    save(edited, solution)
    assert check_canonical(solution) == ["solutions/05_sample.ipynb was edited after its last run. Run `make run`."]


def test_ids_with_dots_and_dashes():
    assert from_dashed("hidden-check-7-7a") == ("hidden-check", "7.7a")
    assert from_dashed("exercise-5-c1") == ("exercise", "5.c1")
    assert from_dashed("exercise-five") == (None, None)
    assert sorted(["5.c1", "5.10", "5.2", "5.7b", "5.7a"], key=sort_key) == ["5.2", "5.7a", "5.7b", "5.10", "5.c1"]
