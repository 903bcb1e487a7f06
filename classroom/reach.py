"""What an answer has no business with: the shell that runs it, the check above it, the counters under it.

A check runs in the process of the answer that it judges, where Python hides nothing. So the text of an answer is read
before it runs, and one that reaches for the means to change its judge, or to look into its notes, is not run at all.
This is a fence, not a wall: whoever hides such a text well enough gets past it, and leaves it in the submission, where
it can be read. Files, processes, threads and the network are not looked for: the sandbox takes care of them.
"""

from __future__ import annotations

import ast
import collections
from collections.abc import Iterator

from classroom.bindings import parsed

_MODULES = set("IPython ipykernel zmq jupyter_client builtins ctypes cffi linecache __main__ unittest.mock mock".split())
_MODULES |= {f"tiles.{name}" for name in "advice cells diagnose guards launchers mistakes question trial".split()}
_OPEN = {"IPython.display", "tiles.question.choice"}
_CALLS = {"setattr", "delattr", "exec", "eval", "globals", "get_ipython", "__import__"}
_ATTRIBUTES = set(
    """__code__ __globals__ __closure__ __dict__ __builtins__ __subclasses__ __bases__ __mro__ __self__ __func__ __wrapped__
    __defaults__ __kwdefaults__ __loader__ __spec__ __getattribute__ f_back f_locals f_globals f_builtins f_code tb_frame gi_frame
    cr_frame ag_frame cell_contents currentframe _getframe _current_frames settrace setprofile excepthook displayhook
    unraisablehook meta_path path_hooks path_importer_cache import_module get_objects get_referrers get_referents ctypes ctypeslib
    attrgetter methodcaller uncounted unwritten largest_load _MEMORIES""".split()
)
_NAMES = {"sys.modules", "inspect.stack"}
_LIBRARIES = {"numpy", "torch", "triton", "tiles"}  # whose attributes stay what they are
_MAGIC = {"run_line_magic", "run_cell_magic", "system", "getoutput"}  # what IPython makes of `%time f(x)` and `!ls`


def reaches(source: str) -> list[str]:
    """What a cell uses of that, each name once, the outermost first.

    Raises RecursionError for a cell that is nested too deeply to be read.
    """
    return list(dict.fromkeys(_found(parsed(source)[0])))


def _found(tree: ast.AST) -> Iterator[str]:
    libraries = {
        alias.asname or alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name.split(".")[0] in _LIBRARIES
    }
    waiting = collections.deque([tree])
    while waiting:
        node = waiting.popleft()
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _MAGIC and _is_shell(node.func):
            for text in node.args[1:]:
                yield from reaches(text.value) if isinstance(text, ast.Constant) else ()
            continue
        if isinstance(node, ast.Constant) and "import " in str(node.value):  # a program in a string: to be written, then run
            yield from reaches(str(node.value))
        waiting += ast.iter_child_nodes(node)
        yield from _reached(node, libraries)


def _is_shell(function: ast.Attribute) -> bool:
    return isinstance(function.value, ast.Call) and getattr(function.value.func, "id", "") == "get_ipython"


def _reached(node: ast.AST, libraries: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if _closed(alias.name))
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name for name in names if _closed(name) or name.rpartition(".")[2] in _ATTRIBUTES or name in _NAMES)
    elif isinstance(node, ast.Attribute):
        name = f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else node.attr
        if node.attr in _ATTRIBUTES or name in _NAMES or (name.startswith("tiles.") and _closed(name)):
            yield name
        elif not isinstance(node.ctx, ast.Load) and _root(node) in libraries and ".backends." not in ast.unparse(node):
            yield ast.unparse(node)
    elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Call):
        yield from ["vars"] if getattr(node.value.func, "id", "") == "vars" else []
    elif isinstance(node, ast.Name) and (node.id in _CALLS or node.id in _ATTRIBUTES):
        yield node.id
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr" and len(node.args) > 1:
        name = node.args[1]
        if not isinstance(name, ast.Constant):
            yield "getattr"
        elif name.value in _ATTRIBUTES:
            yield str(name.value)


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return getattr(node, "id", "")


def _closed(name: str) -> bool:
    """Whether a module, or a name in one, is among those."""
    parts = name.split(".")
    prefixes = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    return bool(prefixes & _MODULES) and not prefixes & _OPEN
