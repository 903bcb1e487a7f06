"""Where a launch goes, and Triton's interpreter made as strict as a GPU.

Importing this package installs the dispatch: `kernel[grid](...)` runs on the device when one of its tensors lives there,
and otherwise in Triton's interpreter, with every load, store and atomic checked, poisoned, and (inside `count()`) counted.
Kernels stay ordinary `@triton.jit` functions, which the compiler can still compile, in the same process.

    dispatch.py   the decision, per launch; autotuning without a GPU; one lock
    launch.py     one interpreted launch: arguments, grid, order of the programs
    kernels.py    a kernel's source, rewritten for the interpreter, with private globals
    patches.py    what Triton's language is replaced by during a launch, and put back afterwards
    access.py     every access that a program makes: bounds, masked-off lanes, races
    views.py      the tensors of a launch as memory: extents, gaps, who touched what
    traffic.py    counts: bytes, lanes and sectors
    errors.py     what a kernel does wrong, as a sentence
    selftest.py   a known kernel with known counts, run once at import
    support.py    which releases of Triton are known

All that depends on Triton's internals is in here. It is tested on Triton 3.6.0, 3.7.1 and 3.9.0.
"""

from tiles.interpreter.support import require_triton, unsupported

require_triton()

try:
    from tiles.interpreter.dispatch import LOCK, install, interpreted
    from tiles.interpreter.errors import KernelError
    from tiles.interpreter.launch import limited, order
    from tiles.interpreter.selftest import selftest
    from tiles.interpreter.traffic import Launch, Tally, Traffic, count
except (AttributeError, ImportError) as error:
    raise unsupported(error) from error

__all__ = ["LOCK", "KernelError", "Launch", "Tally", "Traffic", "count", "interpreted", "limited", "order", "selftest"]

install()
selftest()
