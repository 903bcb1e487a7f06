"""Think in Tiles: what a lesson imports.

The package itself needs NumPy alone, so that the NumPy lessons run anywhere.
PyTorch and Triton are imported by `tiles.device` and `tiles.interpreter`, when a lesson asks for them.
"""

from tiles.blanks import BlankLeft, NotYet, report_blanks_in_jupyter
from tiles.cases import Case, attention_inputs, rows, tensors
from tiles.check import check
from tiles.hidden import fingerprint, run
from tiles.memory import CountedArray, LoadCounter
from tiles.question import choice

__all__ = [
    "BlankLeft",
    "Case",
    "CountedArray",
    "LoadCounter",
    "NotYet",
    "attention_inputs",
    "check",
    "choice",
    "fingerprint",
    "rows",
    "run",
    "tensors",
]

report_blanks_in_jupyter()
