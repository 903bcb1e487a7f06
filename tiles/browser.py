"""What stands in for PyTorch and Triton in a reader's browser, where Python runs and they do not.

The site that `make book` builds (`classroom/lite.py`) has `tiles`, and modules `torch` and `triton` that only call `stand_in`.
The imports of a lesson then succeed, its NumPy exercises and their checks work, and a cell that asks for a kernel or a tensor
says in two sentences what is missing and where it runs.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

from tiles.blanks import NotYet

NAMES = {"torch": "PyTorch", "triton": "Triton", "tiles": "Triton"}  # the first part of a name -> what it takes


class NotHere(NotYet):
    """A cell asks for what a browser does not have. The message says what, and where the cell runs."""


class StandIn(ModuleType):
    """A module that has every name, so that a lesson can import and annotate with it. Whatever is called raises NotHere."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> StandIn:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(f"{self.__name__}.{name}")

    def __call__(self, *arguments, **options):
        what = NAMES[self.__name__.partition(".")[0]]
        raise NotHere(
            f"This cell needs {what} (`{self.__name__}`), which does not run in a browser. "
            "It runs where the course is installed, without a GPU too: the page Setup says how. "
            "Cells and exercises without it work here."
        )

    __getitem__ = __call__


def stand_in() -> None:
    """Let `import torch` and `import triton` succeed from now on, and the imports of what `tiles` builds on them."""
    torch, triton, language = StandIn("torch"), StandIn("triton"), StandIn("triton.language")
    torch.cuda = SimpleNamespace(is_available=lambda: False)  # measurements then show the recorded runs
    triton.language = language
    device = ModuleType("tiles.device")
    device.DEVICE = "cpu"
    modules = [torch, triton, language, device, StandIn("tiles.interpreter")]
    sys.modules.update({module.__name__: module for module in modules})
