"""What Triton's compiler says about a kernel, without a GPU.

    k = inspect_kernel(vector_add_kernel, x, y, out, n, BLOCK_SIZE=1024, target="H100")
    print(k)                                # registers, spills, shared memory, occupancy, vector width, tensor cores
    print(k.excerpt("ptx", r"ld\\.global"))  # and every stage, from TTIR to SASS, as text

    targets.py    the GPUs, their limits, and occupancy by the vendor's formula
    build.py      a launch, compiled as Triton would compile it; the cache; silence
    result.py     what came out, as figures and as text
    accesses.py   the loads and stores of the source, and which lane moves which element
    layouts.py    Triton's layouts as arrays
    ptx.py        widths of memory instructions, tensor cores
    refusals.py   what the compiler refuses, with the line and what to write instead
    sources.py    a kernel's helpers and lines

Importing it needs NumPy alone, and so do occupancy and layouts. Tested on Triton 3.6.0, 3.7.1 and 3.9.0.
"""

from tiles.compiled.accesses import Access
from tiles.compiled.build import NoCompiler, compile_gate, inspect_kernel
from tiles.compiled.layouts import lane_elements
from tiles.compiled.refusals import CompileError
from tiles.compiled.result import CompiledKernel
from tiles.compiled.targets import TARGETS, Occupancy, Target, find_target, occupancy

__all__ = [
    "TARGETS",
    "Access",
    "CompileError",
    "CompiledKernel",
    "NoCompiler",
    "Occupancy",
    "Target",
    "compile_gate",
    "find_target",
    "inspect_kernel",
    "lane_elements",
    "occupancy",
]
