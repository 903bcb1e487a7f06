"""Which machine is this: where a lesson's tensors live.

Importing it also installs the dispatch of `tiles.interpreter`, so that kernels run here with or without a GPU.
"""

import torch

from tiles import interpreter as interpreter

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
"""Where a lesson makes its tensors: "cuda" with a GPU, "cpu" (Triton's interpreter) without one."""
