"""A small lesson for the tests of the pipeline: NumPy only, every kind of blank, quick to run."""

from __future__ import annotations

import nbformat
from nbformat import NotebookNode

NAME = "05_sample"

SETUP = '''
import numpy as np


class NotYet(AssertionError):
    """A verdict without a traceback."""


def check(exercise, right):
    if not right:
        raise NotYet(f"Exercise {exercise} is not right yet: n = 3.")
    print(f"Exercise {exercise} passed: 3 sizes.")
'''

SHIFTED = '''
# Exercise 5.1
def shifted(x):
    """x minus its maximum, and the maximum."""
    m = np.max(x)  # ______ the largest element
    y = (x -
         m)  # [n]  # ______ zero at the largest element

    return y, m
'''

SOFTMAX = '''
# Exercise 5.2
def softmax(x, block=4):
    """softmax of a row."""
    y, _ = shifted(x)
    # BEGIN SOLUTION: exponentials and their sum
    p = np.exp(y)
    total = p.sum()
    # END SOLUTION
    return p / total
'''

BUG = """
# Exercise 5.3
def inside(offs, n_elements):
    mask = offs < n_elements  # ______ instead: offs <= n_elements
    return mask
"""

CHOICE = """
# Exercise 5.c1
# Without the running maximum, a row of large scores gives  a) the same  b) nan  c) zeros
answer_c1 = "b"  # ______ a letter in quotes, such as "a"
"""

SOURCES = {"5.1": SHIFTED, "5.2": SOFTMAX, "5.3": BUG, "5.c1": CHOICE}
POINTS = {"5.1": 2, "5.2": 1, "5.3": 1, "5.c1": 1}
CHECKS = {
    "5.1": 'check("5.1", shifted(np.array([1.0, 5.0, 2.0]))[0].max() == 0)',
    "5.2": 'check("5.2", abs(softmax(np.arange(5.0)).sum() - 1) < 1e-12)',
    "5.3": 'check("5.3", inside(np.arange(4), 3).sum() == 3)',
    "5.c1": 'check("5.c1", answer_c1 != "a")',
}
HIDDEN = {
    "5.1": "secret_input = np.array([2.5, -7.25, 11.125])\nprint(*shifted(secret_input))",
    "5.2": "secret_row = np.array([0.5, 1.5, 3.25])\nprint(softmax(secret_row).round(6))",
    "5.3": "print(inside(np.array([40, 41, 42, 43]), 42))",
    "5.c1": "print(answer_c1)",
}


def lesson_notebook(**sources: str) -> NotebookNode:
    """The sample as an author leaves it: tags, no outputs. `sources` replaces answers: e5_1="…"."""
    v4 = nbformat.v4
    cells = [v4.new_markdown_cell("# Sample\n\nA lesson about nothing."), v4.new_code_cell(SETUP.strip())]
    for exercise, source in SOURCES.items():
        source = sources.get("e" + exercise.replace(".", "_"), source)
        cells.append(v4.new_markdown_cell(f"### Exercise {exercise}"))
        cells.append(_tagged(source.strip(), f"exercise-{exercise}"))
        if exercise == "5.2":
            cells.append(v4.new_code_cell("print(softmax(np.arange(3.0)).round(3))"))
        points = [f"points-{POINTS[exercise]}"] if POINTS[exercise] > 1 else []
        cells.append(_tagged(CHECKS[exercise], f"check-{exercise}", *points))
        cells.append(_tagged(HIDDEN[exercise], f"hidden-check-{exercise}"))
    cells.append(v4.new_code_cell("print('the end')"))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return v4.new_notebook(cells=cells)


def _tagged(source: str, *tags: str) -> NotebookNode:
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})


def make_course(root) -> None:
    """Writes root/solutions/05_sample.ipynb, executed, and root/notebooks/05_sample.ipynb, derived."""
    from classroom.derive import write_notebooks
    from classroom.execute import run

    path = root / "solutions" / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(lesson_notebook(), path)
    run([path])
    write_notebooks(root)
