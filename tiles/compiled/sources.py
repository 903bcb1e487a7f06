"""The source of a kernel: its helpers, and lines as Python counts them in a file or cell."""

from __future__ import annotations

import ast
import re
import types
from typing import Any

Place = tuple[str, int, int]
"""File, line and column in the source."""

_PLACE = re.compile(r'"([^"]*)":(\d+):(\d+)')


def reachable(function: Any) -> list[Any]:
    """The kernel and the helpers that it calls, directly or not, outside Triton's own library."""
    from triton.runtime.jit import JITFunction

    found: dict[int, Any] = {}
    waiting = [function]
    while waiting:
        kernel = waiting.pop()
        if not isinstance(kernel, JITFunction) or id(kernel) in found or (kernel.__module__ or "").startswith("triton."):
            continue
        found[id(kernel)] = kernel
        scope, names = kernel.get_capture_scope(), _names(kernel.fn.__code__)
        values = [scope[name] for name in names if name in scope]
        modules = [v for v in values if isinstance(v, types.ModuleType) and not v.__name__.startswith("triton")]
        waiting += values + [vars(module)[name] for module in modules for name in names if name in vars(module)]
    return list(found.values())


def _names(code: types.CodeType) -> set[str]:
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names) | set(code.co_freevars) | set().union(*inner)


def forget_hashes(function: Any) -> None:
    """Make Triton look at the sources again: it would compile a helper that has since been redefined as it was."""
    for kernel in reachable(function):
        kernel.hash = None
        kernel.used_global_vals = {}


def line_of(kernel: Any, node: ast.AST) -> int:
    """The line in the file or cell; Triton counts from the kernel's `def`."""
    before = next(number for number, line in enumerate(kernel.raw_src) if line.lstrip().startswith("def "))
    return kernel.starting_line_number + before + node.lineno - 1


def text_of(kernel: Any, line: int) -> str:
    """That line of the file or cell, without a comment behind it."""
    return kernel.raw_src[line - kernel.starting_line_number].split("  #")[0].strip()


def locations(text: str) -> dict[str, Place]:
    """Where `#loc12` and the like stand in the source: (file, line, column); for inlined helpers, in the helper."""
    bodies = dict(re.findall(r"^(#loc\d*) = loc\((.*)\)\s*$", text, re.MULTILINE))

    def resolve(body: str, depth: int = 0) -> Place | None:
        place = _PLACE.search(body)
        other = re.search(r"#loc\d*", body)
        if place and (other is None or place.start() < other.start()):
            return place[1], int(place[2]), int(place[3])
        if other is None or depth > 20:
            return None
        return resolve(bodies.get(other[0], ""), depth + 1)

    return {name: place for name, body in bodies.items() if (place := resolve(body))}
