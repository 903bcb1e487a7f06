"""Cells of a notebook: what a check says when the last run of an exercise's cell did not define what it judges."""

import json
import subprocess
import sys

import pytest

from tiles import cells


def in_jupyter(*sources):
    """What the cells print, one after the other in one shell."""
    script = "from IPython.core.interactiveshell import InteractiveShell as S\nshell = S.instance()\n" + "".join(
        f"shell.run_cell({source!r})\n" for source in ("import numpy as np\nfrom tiles import check, choice, rows", *sources)
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60).stdout


DOUBLE = "# Exercise 99.1\ndef double(x):\n    return 2 * x"
CHECK = 'check("99.1", double, against=lambda x: 2 * x, cases=rows(3))'
STALE = "The last run of exercise 99.1's cell failed; the check would judge an older version. Run it again first."


@pytest.mark.parametrize(
    "broken", [DOUBLE + " +", "# Exercise 99.1\n1 / 0", DOUBLE.replace("2 *", "2 * nothing *") + "\ndouble(1)"]
)
def test_a_cell_that_failed(broken):
    printed = in_jupyter(DOUBLE, CHECK, broken, CHECK)
    assert printed.count("Exercise 99.1 passed") == 1
    if "nothing" in broken:  # the function is defined, so it is judged
        assert "name 'nothing' is not defined" in printed and STALE not in printed
    else:
        assert printed.rstrip().endswith(STALE)


def test_a_cell_that_failed_and_was_mended():
    printed = in_jupyter(DOUBLE + " +", CHECK, DOUBLE, CHECK)
    assert printed.count("Exercise 99.1 passed") == 1 and "There is no `double` yet" in printed


def test_a_cell_that_fails_behind_the_function():
    printed = in_jupyter(DOUBLE + "\n\n\nprint(undefined)", CHECK)
    assert "Exercise 99.1 passed" in printed


def test_a_function_that_got_another_name():
    printed = in_jupyter(DOUBLE, CHECK, DOUBLE.replace("double", "twice"), CHECK)
    assert "The last run of exercise 99.1's cell did not define `double`; the check would judge an older version." in printed


@pytest.mark.parametrize("line", ["    ", "%time double(2)", "!true", "print('\\t')", "double?", "\t\t", "    # ünïcode"])
def test_a_cell_that_jupyter_changes_before_it_runs(line):
    for cell in (f"{DOUBLE}\n{line}", DOUBLE.replace("(x):", "(x):\n" + line) if not line.strip() else f"{DOUBLE}\n\n{line}\n"):
        assert "Exercise 99.1 passed" in in_jupyter(cell, CHECK)


def test_a_function_of_another_exercise_that_failed():
    fourfold = "# Exercise 99.2\ndef fourfold(x):\n    return double(double(x))"
    later = 'check("99.2", fourfold, against=lambda x: 4 * x, cases=rows(3))'
    printed = in_jupyter(DOUBLE, fourfold, later, DOUBLE + " +", later)
    assert printed.count("Exercise 99.2 passed") == 1 and printed.rstrip().endswith(STALE)


def test_a_question_whose_cell_failed():
    printed = in_jupyter('# Exercise 5.c2\nanswer = "a"', "# Exercise 5.c2\nanswer = 1 / 0", 'choice("5.c2", answer)')
    assert "The last run of exercise 5.c2's cell failed; the check would judge an older version." in printed


def test_a_letter_without_quotes():
    printed = in_jupyter('# Exercise 5.c2\nanswer_c2 = "a"', "# Exercise 5.c2\nanswer_c2 = D", 'choice("5.c2", answer_c2)')
    assert 'Write the letter in quotes: answer_c2 = "d".' in printed and "Traceback" not in printed
    assert printed.rstrip().endswith("There is no `answer_c2` yet: fill in exercise 5.c2, and run its cell first.")


def test_a_function_defined_anywhere_else():
    printed = in_jupyter(DOUBLE + " +", DOUBLE.replace("# Exercise 99.1\n", ""), CHECK)
    assert printed.rstrip().endswith(STALE)
    assert "passed" in in_jupyter(DOUBLE.replace("# Exercise 99.1\n", ""), CHECK)


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    sources = ["# Exercise 99.1\n@jit\ndef double(x):\n    return ______", "def helper(x):\n    return x\n\n\nshown = 3"]
    notebook = {"cells": [{"cell_type": "code", "source": [line]} for line in sources]}
    (tmp_path / "99_lesson.ipynb").write_text(json.dumps(notebook))
    monkeypatch.setattr(cells, "NOTEBOOKS", tmp_path)
    cells._cells.cache_clear()
    yield
    cells._cells.cache_clear()


def test_what_to_run_first(lesson):
    assert cells.undefined("double", "99") == "There is no `double` yet: fill in exercise 99.1, and run its cell first."
    assert cells.undefined("helper", "99") == "There is no `helper` yet: run the cell above that defines it first."
    assert cells.undefined("shown", "99") == "There is no `shown` yet: run the cell above that defines it first."
    assert "fill in the exercise above" in cells.undefined("double", "98")


def test_which_lesson_has_a_cell(lesson):
    assert cells.lesson_of("def helper(x):\n    return x\n\n\nshown = 3") == "99"
    assert cells.lesson_of("def helper(x):\n    return 2 * x") == cells.lesson_of("") == ""


def test_a_given_cell_that_needs_an_exercise():
    given = next(source for source in cells._cells("4") if "= chain_bytes(32, others)" in source)
    printed = in_jupyter(given)
    assert printed.rstrip() == "There is no `chain_bytes` yet: fill in exercise 4.3, and run its cell first."


def test_which_exercise_a_cell_holds():
    assert cells.exercise_of("# Exercise 7.7a\nx = 1") == "7.7a" and cells.exercise_of("\n# Exercise 5.c1 \nx") == "5.c1"
    assert cells.exercise_of("x = 1\n# Exercise 5.1") is None and cells.exercise_of("# Exercise 5.1: words") is None


def test_an_exercise_that_calls_one_that_never_ran():
    printed = in_jupyter(
        "# Exercise 5.6\ndef logsumexp(x):\n    return online_softmax(x, 4)",
        'check("5.6", logsumexp, against=abs, cases=rows(3))',
    )
    assert "There is no `online_softmax` yet: fill in exercise 5.3, and run its cell first." in printed
