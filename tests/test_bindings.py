"""Which names an answer may not bind."""

import pytest

from classroom.bindings import defined, rebound

GIVEN = [
    "import numpy as np\nfrom tiles import check\nimport matplotlib.pyplot as plt",
    "from tiles.device import DEVICE\nfrom tiles.memory import CountedArray",
    "n = 3\ndef blocks(n):\n    return n",
]
OWN = defined(GIVEN)


def test_names_of_a_lesson():
    assert set(OWN) == {"np", "check", "plt", "blocks", "DEVICE", "CountedArray"}


@pytest.mark.parametrize(
    "source, names",
    [
        ("np = 3", "np"),
        ("def check(): pass", "check"),
        ("class check: pass", "check"),
        ("def blocks(m): pass", "blocks"),
        ("def blocks(n):\n    return n\nblocks = 3", "blocks"),
        ("for blocks in []: pass", "blocks"),
        ("with open('x') as check: pass", "check"),
        ("try:\n    pass\nexcept ValueError as check:\n    pass", "check"),
        ("if True:\n    def check(): pass", "check"),
        ("del check", "check"),
        ("check += 1", "check"),
        ("[check := 3 for _ in []]", "check"),
        ("import numpy.linalg as np", "np"),
        ("from os import path as check, sep as np", "check np"),
        ("def f():\n    global check\n    check = 3", "check"),
        ("def f():\n    global check\n    import check", "check"),
        ("globals()['check'] = 3", "check"),
        ("get_ipython().user_ns['check'] = 3", "check"),
        ("check.__kwdefaults__ = None", "check"),
        ("import tiles\ntiles.check.__code__ = 3", "tiles"),
        ("np.exp = 3", "np"),
        ("np.random.mtrand.x[3].y = 3", "np"),
        ("files = !ls\ncheck = 3", "check"),
        ("%%time\ncheck = 3", "check"),
        ("%time check = 3\ncheck = 3", "check"),
        ("import tiles.trial as check", "check"),
        ("check = 3\nglobal check", "check"),
        ("import torch\nDEVICE = 'cpu'", "DEVICE"),
        ("DEVICE = 'cuda' if torch.cuda.is_available() else 'cpu'\nDEVICE = 3", "DEVICE"),
        ("from tiles.memory import LoadCounter as CountedArray", "CountedArray"),
    ],
)
def test_another_meaning(source, names):
    assert rebound(source, OWN) == names.split()


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np",
        "import numpy",
        "import math, functools\nfrom functools import reduce",
        "from tiles import check",
        "from tiles.check import check\nfrom matplotlib import pyplot as plt\nfrom tiles import CountedArray",
        "DEVICE = 'cuda' if torch.cuda.is_available() else 'cpu'",
        "def f(x, x):\n    pass",
        "nonlocal y",
        "def f():\n    total = 1\n    global total",
        "import torch\ntorch._dynamo.config.suppress_errors = True",
        "try:\n    import numpy as np\nexcept ImportError:\n    pass",
        "def blocks(n):\n    # the same\n    return n",
        "n = 4",
        "def f(check):\n    np = 3\n    return check",
        "[blocks for blocks in range(3)]",
        "lambda check: check",
        "class State:\n    check = 3",
        "state.check = 3\ntable['check'] = 3",
        "np.random.seed(3)\nplt.rcParams['x'] = 3",
        "this is no Python: check = 3",
        "check = '\0'",
        "",
    ],
)
def test_the_same_meaning_or_none(source):
    assert rebound(source, OWN) == []


def test_a_cell_that_is_nested_too_deeply():
    with pytest.raises(RecursionError, match="nested too deeply"):
        rebound("x = 1" + " + 1" * 100_000, OWN)
