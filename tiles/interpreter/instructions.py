"""Inline assembly in the interpreter: the few PTX instructions that the lessons use, computed by NumPy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import triton.runtime.interpreter as triton_interpreter

INSTRUCTIONS: dict[str, Callable] = {
    "ex2.approx.f32": np.exp2,
    "ex2.approx.ftz.f32": np.exp2,
    "lg2.approx.f32": np.log2,
    "rcp.approx.f32": np.reciprocal,
    "rcp.approx.ftz.f32": np.reciprocal,
    "rsqrt.approx.f32": lambda x: 1 / np.sqrt(x),
    "sqrt.approx.f32": np.sqrt,
    "tanh.approx.f32": np.tanh,
}
"""What each instruction computes; the GPU's result is coarser (tanh.approx.f32: a relative error of 2⁻¹¹)."""


def inline_asm(text: str, constraints: str, values: list[Any], types: Any, pure: bool, pack: int) -> Any:
    """In place of the builder's create_inline_asm: one instruction of INSTRUCTIONS, `$0` from `$1`, in float32, one a lane.

    Raises NotImplementedError for any other text: a GPU is needed to run that.
    """
    match = re.fullmatch(r"\s*(\S+)\s+\$0\s*,\s*\$1\s*;\s*", text)
    function = INSTRUCTIONS.get(match[1]) if match else None
    if function is None:
        known = ", ".join(f"`{name} $0, $1;`" for name in INSTRUCTIONS)
        raise NotImplementedError(f"the interpreter knows no inline assembly `{text.strip()}`, only {known}")
    (value,) = values
    if value.data.dtype != np.float32 or constraints.replace(" ", "") != "=f,f" or pack != 1:
        raise ValueError(f'{match[1]} takes float32, with the constraints "=f,f" and pack=1')
    handle = triton_interpreter.TensorHandle(function(value.data).astype(np.float32), value.dtype.scalar)
    return _Result(handle)


class _Result:
    """What the builder returns for an instruction: its only result, by `get_result(0)`."""

    def __init__(self, handle: Any):
        self.handle = handle

    def get_result(self, index: int) -> Any:
        return self.handle
