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
        ("import sys as s, tiles as t\nf(s.modules, t.trial)", ["sys.modules", "tiles.trial"]),
        ("import torch.nn, tiles.memory\nf(torch._C, tiles.trial)", ["torch._C", "tiles.trial"]),
        ("import gc\ngc.get_objects()", ["gc.get_objects"]),
        ("setattr(check, '__code__', f)", ["setattr"]),
        ("f(getattr(x, 'a' + 'b'), getattr(x, 'c'))", ["getattr"]),
        ("import numpy as n\nn.abs = f\nn.random.seed(0)", ["n.abs"]),
        ("vars(np)['abs'] = f", ["vars"]),
        ("%time exec('x')", ["exec"]),
        ("%timeit -n1 -r 1 globals().update(check=f)", ["globals"]),
        ("%run -i later.py", ["%run"]),
        ("locals().update(check=f)", ["locals"]),
        ("vars().update(check=f)", ["vars"]),
        ("print(vars(**x), f((lambda: globals())().__dict__))", ["vars", "__dict__", "globals"]),
        ("print((lambda: exec('x'))().__dict__)", ["exec"]),
        ("len(globals())", ["globals"]),
        ("'x' in globals() in y", ["globals"]),
        ("globals() in y", ["globals"]),
        ("f(np.__dict__)", ["np.__dict__"]),
        ("sys.modules['x']", ["sys.modules"]),
        ("from IPython import get_ipython as g", ["IPython.get_ipython"]),
        ("from IPython import get_ipython\nget_ipython().run_cell('x')", ["get_ipython"]),
        ("importlib.import_module('ctypes')", ["importlib.import_module"]),
        ("importlib.import_module(name)", ["importlib.import_module"]),
        ("from importlib import import_module\nf(import_module)", ["import_module"]),
        ("import torch\ntorch.backends.cuda.torch.add = f", ["torch.backends.cuda.torch.add"]),
        ("import torch\ntorch._dynamo.config.torch.add = f", ["torch._dynamo.config.torch.add"]),
        (
            "from torch.utils._python_dispatch import _disable_current_modes",
            ["torch.utils._python_dispatch._disable_current_modes"],
        ),
        ("torch._C._DisableTorchDispatch()", ["torch._C"]),
        ("type.__setattr__(type(x), 'reads', 0)", ["type.__setattr__"]),
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
        "import sys\nIN_COLAB = 'google.colab' in sys.modules or 'x' not in globals()\nprint(f.__dict__, locals())",
        "from IPython import get_ipython\n'google.colab' in str(get_ipython())\nget_ipython() is None",
        "import importlib\nnp = importlib.import_module('numpy')\nfrom importlib import import_module\nimport_module('torch')",
        "import torch\ntorch._dynamo.config.suppress_errors = True\ntorch._inductor.config.debug = True\na.ctypes.data",
        "unwritten = largest_load = 3\nprint(unwritten)",
        "class A:\n    def __setattr__(self, name, value):\n        super().__setattr__(name, value)\n        object.__setattr__(self, 'x', 3)",
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
