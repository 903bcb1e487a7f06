"""What an answer has no business with: the shell that runs it, the check above it, the counters under it.

A check runs in the process of the answer that it judges, where Python hides nothing. So the text of an answer is read
before it runs, and one that reaches for the means to change its judge, or to look into its notes, is not run at all.
This is a fence, not a wall: whoever hides such a text well enough gets past it, and leaves it in the submission, where
it can be read. Files, processes, threads and the network are not looked for: the sandbox takes care of them.
"""

from __future__ import annotations

import ast
import collections
import re
from collections.abc import Iterator

from classroom.bindings import is_setting, parsed

_MODULES = set(
    """IPython ipykernel zmq jupyter_client builtins ctypes cffi linecache __main__ unittest.mock mock torch._C
    torch.utils._python_dispatch""".split()
)
_MODULES |= {f"tiles.{name}" for name in "advice cells diagnose guards launchers mistakes question trial".split()}
_OPEN = {"IPython.display", "tiles.question.choice"}
_CALLS = {"setattr", "delattr", "exec", "eval", "globals", "locals", "get_ipython", "__import__", "import_module"}
_ATTRIBUTES = set(
    """__code__ __globals__ __closure__ __dict__ __builtins__ __subclasses__ __bases__ __mro__ __self__ __func__ __wrapped__
    __defaults__ __kwdefaults__ __loader__ __spec__ __getattribute__ f_back f_locals f_globals f_builtins f_code tb_frame gi_frame
    cr_frame ag_frame cell_contents currentframe _getframe _current_frames settrace setprofile excepthook displayhook
    unraisablehook meta_path path_hooks path_importer_cache import_module get_objects get_referrers get_referents ctypes ctypeslib
    attrgetter methodcaller uncounted _MEMORIES _python_dispatch""".split()
)
_NAMES = {"sys.modules", "inspect.stack", "torch._C"}
_KEPT = {"IPython.get_ipython", "importlib.import_module"}  # may be imported; what is called is looked at
_SPACES = {"globals", "locals", "vars"}
_SHOWS = {"print", "str"}  # what only looks at what it is given; no answer may give these names another meaning
_OF_ARRAYS = {"data", "shape", "strides"}  # `a.ctypes.data`
_LIBRARIES = {"numpy", "torch", "triton", "tiles"}  # whose attributes stay what they are
_MAGIC = {"run_line_magic", "run_cell_magic", "system", "getoutput"}  # what IPython makes of `%time f(x)` and `!ls`
_RUNS = {"run", "rerun", "recall", "rep", "macro", "store"}  # magic commands that run, or set, what stands elsewhere


def reaches(source: str) -> list[str]:
    """What a cell uses of that, each name once, the outermost first.

    Raises RecursionError for a cell that is nested too deeply to be read.
    """
    try:
        return list(dict.fromkeys(_found(parsed(source)[0])))
    except RecursionError:
        raise RecursionError("a cell is nested too deeply to be read") from None


def _found(tree: ast.AST) -> Iterator[str]:
    imported = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    roots = {root: root for alias in imported if not alias.asname for root in alias.name.split(".")[:1]}
    modules = roots | {alias.asname: alias.name for alias in imported if alias.asname}
    waiting = collections.deque([tree])
    while waiting:
        node = waiting.popleft()
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _MAGIC and _is_shell(node.func):
            texts = [text.value for text in node.args if isinstance(text, ast.Constant)]
            yield from (f"%{name}" for name in texts[:1] if name in _RUNS)
            for text in texts[1:]:
                yield from reaches(re.sub(r"^\s*(-\S+\s+(\d+\s+)?)+", "", text))  # without options, as of `%timeit -n 1`
            continue
        if isinstance(node, ast.Constant) and "import " in str(node.value):  # a program in a string: to be written, then run
            yield from reaches(str(node.value))
        looked_at = set(map(id, _looked_at(node)))
        for child in ast.iter_child_nodes(node):
            waiting += [child] if id(child) not in looked_at else ast.iter_child_nodes(child) if _last(child) else []
        yield from _reached(node, modules)


def _looked_at(node: ast.AST) -> list[ast.AST]:
    """Parts of an expression that are asked for names, for a number or for a module that is open, and for nothing else."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        asked = {ast.In: node.comparators, ast.NotIn: node.comparators, ast.Is: [node.left], ast.IsNot: [node.left]}
        return [part for part in asked.get(type(node.ops[0]), []) if _is_space(part)]
    if isinstance(node, ast.Attribute) and node.attr in _OF_ARRAYS and isinstance(node.ctx, ast.Load):
        return [node.value] if getattr(node.value, "attr", "") == "ctypes" else []
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in _SHOWS:
        return [part for part in node.args if _is_space(part)]
    if isinstance(node, ast.Call) and _last(node.func) == "import_module" and len(node.args) == 1 and not node.keywords:
        name = node.args[0]
        return [node.func] if isinstance(name, ast.Constant) and not _closed(str(name.value)) else []
    return []


def _is_space(node: ast.AST) -> bool:
    """Whether an expression is a namespace, or the shell: `sys.modules`, `f.__dict__`, `globals()`, `get_ipython()`."""
    if isinstance(node, ast.Call):
        return not (node.args or node.keywords) and getattr(node.func, "id", "") in _SPACES | {"get_ipython"}
    return isinstance(node, ast.Attribute) and (node.attr == "__dict__" or ast.unparse(node) == "sys.modules")


def _last(node: ast.AST) -> str:
    return getattr(node, "attr", "") or getattr(node, "id", "")


def _is_shell(function: ast.Attribute) -> bool:
    return isinstance(function.value, ast.Call) and getattr(function.value.func, "id", "") == "get_ipython"


def _reached(node: ast.AST, modules: dict[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if _closed(alias.name))
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
        if not any(alias.asname for alias in node.names):
            names = [name for name in names if name not in _KEPT]
        yield from (name for name in names if _closed(name) or name.rpartition(".")[2] in _ATTRIBUTES or name in _NAMES)
    elif isinstance(node, ast.Attribute):
        owner = getattr(node.value, "id", "")
        name = f"{modules.get(owner, owner)}.{node.attr}" if owner else node.attr
        if node.attr in _ATTRIBUTES or name in _NAMES or (name.startswith("tiles.") and _closed(name)):
            yield name
        elif not isinstance(node.ctx, ast.Load) and _library(node, modules) in _LIBRARIES and not is_setting(ast.unparse(node)):
            yield ast.unparse(node)
        elif node.attr in ("__setattr__", "__delattr__") and ast.unparse(node.value) not in ("super()", "object"):
            yield name
    elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Call):
        yield from ["vars"] if getattr(node.value.func, "id", "") == "vars" else []
    elif isinstance(node, ast.Name) and (node.id in _CALLS or node.id in _ATTRIBUTES):
        yield node.id
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "vars" and not node.args:
        yield "vars"
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr" and len(node.args) > 1:
        name = node.args[1]
        if not isinstance(name, ast.Constant):
            yield "getattr"
        elif name.value in _ATTRIBUTES:
            yield str(name.value)


def _library(node: ast.AST, modules: dict[str, str]) -> str:
    """Of what package an attribute is, or an attribute of an attribute."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return modules.get(getattr(node, "id", ""), "").split(".")[0]


def _closed(name: str) -> bool:
    """Whether a module, or a name in one, is among those."""
    parts = name.split(".")
    prefixes = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    return bool(prefixes & _MODULES) and not prefixes & _OPEN
