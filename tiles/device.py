"""Which machine is this: where tensors live, and which dtypes it computes with.

Importing it also installs the dispatch of `tiles.interpreter`, so that kernels run here with or without a GPU.
"""

import torch

from tiles import interpreter as interpreter

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
"""Where a lesson makes its tensors: "cuda" with a GPU, "cpu" (Triton's interpreter) without one."""

DTYPES = (torch.float32, torch.float16) + ((torch.bfloat16,) if DEVICE == "cuda" else ())
"""The floating-point dtypes that kernels may use here: bfloat16 is wrong in the interpreter, and refused there."""
