"""What an answer may not reach for, and what it may, however odd."""

from pathlib import Path

import nbformat
import pytest

from classroom.reach import reaches

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    "source, found",
    [
        ("import ctypes, os", ["ctypes"]),
        ("from IPython.core import interactiveshell as s", ["IPython.core.interactiveshell"]),
        ("import tiles.trial", ["tiles.trial"]),
        ("from tiles import launchers", ["tiles.launchers"]),
        ("from tiles.memory import CountedArray, uncounted", ["tiles.memory.uncounted"]),
        ("import tiles\ntiles.memory.uncounted(x)", ["uncounted"]),
        ("import sys\nsys._getframe(1).f_locals", ["f_locals", "sys._getframe"]),
        ("from sys import modules", ["sys.modules"]),
        ("import gc\ngc.get_objects()", ["gc.get_objects"]),
        ("setattr(check, '__code__', f)", ["setattr"]),
        ("f(getattr(x, 'a' + 'b'), getattr(x, 'c'))", ["getattr"]),
        ("import numpy as n\nn.abs = f\nn.random.seed(0)", ["n.abs"]),
        ("vars(np)['abs'] = f", ["vars"]),
        ("%time exec('x')", ["exec"]),
        ("x = !ls\nget_ipython().run_cell('x')", ["get_ipython"]),
        ("open('a.py', 'w').write('''\nimport ctypes\n''')", ["ctypes"]),
    ],
)
def test_what_is_found(source, found):
    assert reaches(source) == found


@pytest.mark.parametrize(
    "source",
    [
        "import os, sys, time, threading, subprocess, timeit, pickle, inspect, gc, importlib\ngc.collect()\nsys.setrecursionlimit(9)\nsys.path.append('x')",
        "from IPython.display import HTML, display\nfrom google.colab import drive",
        "import tiles\nfrom tiles import check, memory\nfrom tiles.interpreter import count\nfrom tiles.cases import rows\ntiles.check(x)",
        "import torch\ntorch.backends.cudnn.benchmark = True\ntorch.compile(f)\nre.compile('x')\nmodel.eval()\nx.shape = (3,)",
        "%matplotlib inline\n!pip list\n%timeit f(3)\nx = %time f(3)",
        "class A:\n    def __init__(self):\n        super().__init__()\n        self.n = self.__class__.__name__",
        "getattr(x, 'shape')\nprint('eval, exec and setattr: import none of them')",
        "x = (",
    ],
)
def test_what_is_free(source):
    assert reaches(source) == []


def test_no_honest_answer_reaches_too_far():
    answers = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "answers").rglob("*.py")}
    for path in (ROOT / "solutions").glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        tagged = [cell.source for cell in cells if any("exercise-" in tag for tag in cell.metadata.get("tags", []))]
        answers[path] = "\n".join(tagged)
    assert len(answers) > 500
    assert {str(path): found for path, source in answers.items() if (found := reaches(source))} == {}


def test_a_cell_too_deep_to_be_read():
    with pytest.raises(RecursionError):
        reaches("x = 1" + " + 1" * 20_000)
