"""Which names a cell binds, and which of the lesson's own names an answer gives another meaning.

What given cells and checks import or define as functions must mean the same after an answer has run: a check that calls
a function of the student's, because both have the same name, finds faults that are none, or misses those that there are.
"""

from __future__ import annotations

import ast
import functools
import re
import symtable
import warnings
from collections.abc import Iterable, Iterator

from IPython.core.inputtransformer2 import TransformerManager

from classroom.sandbox import tiles_folder

Forms = dict[str, set[str]]
"""Names, with the ways in which each is bound: an import or a definition as text, "" for any other way."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_DEEP = "a cell is nested too deeply to be read"
_DEVICE = "'cuda' if torch.cuda.is_available() else 'cpu'"  # what `tiles.device.DEVICE` is
_NAMESPACES = ("globals", "locals", "vars", "user_ns", "user_global_ns", "__dict__")


def defined(sources: Iterable[str]) -> Forms:
    """The names that cells of a lesson import, or define as functions and classes, at their top level."""
    found: Forms = {}
    for source in sources:
        _add(found, _defined(source))
    return found


@functools.lru_cache(maxsize=1000)
def _defined(source: str) -> Forms:
    found: Forms = {}
    for node in parsed(source)[0].body:
        _add(found, _definition(node))
    return found


def rebound(source: str, protected: Forms) -> list[str]:
    """The protected names to which a cell gives another meaning, or whose attributes it changes; in alphabetical order.

    Raises RecursionError for a cell that is nested too deeply to be read.
    """
    tree, text = parsed(source)
    try:
        bound = _bound(tree, text)
        other = {name for name in protected if not bound.get(name, set()) <= protected[name]}
        ours = {name for name, forms in bound.items() if any("tiles" in form for form in forms)}
        return sorted(other | set(_changed(tree, ours | set(protected))))
    except RecursionError:
        raise RecursionError(_DEEP) from None


def is_setting(text: str) -> bool:
    """Whether an attribute is one that torch offers for setting, such as `torch.backends.cudnn.benchmark`."""
    return bool(re.fullmatch(r"torch\.(backends(\.(?!torch\b|sys\b|os\b)\w+)+|_(dynamo|inductor)\.config\.\w+)", text))


@functools.lru_cache(maxsize=100)
def parsed(source: str) -> tuple[ast.Module, str]:
    """A cell as the kernel runs it, magic commands included, and its text; empty where it is not Python. Raises RecursionError."""
    lines = source.lstrip().split("\n")
    if lines[0].startswith("%%"):  # what a cell magic is given is mostly code, in a string
        source = "\n".join(lines[1:])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as an escape in a string: not for whoever grades
            text = TransformerManager().transform_cell(source)
            return ast.parse(text), text
    except (RecursionError, MemoryError):
        raise RecursionError(_DEEP) from None
    except Exception:  # text of any kind: the kernel will say what is wrong with it
        return ast.Module([], []), ""


def _add(found: Forms, more: Forms) -> None:
    for name, forms in more.items():
        found.setdefault(name, set()).update(forms)


def _definition(node: ast.AST) -> Forms:
    """What an import, or the definition of a function or class, binds; nothing for other statements.

    `import a.b as c` and `from a import b as c` have one form, and so have a name of `tiles` and the module it comes from.
    """
    if isinstance(node, _DEFINITIONS):
        return {node.name: {ast.dump(node)}}
    if isinstance(node, ast.ImportFrom):
        module = f"{'.' * node.level}{node.module}"
        return {alias.asname or alias.name: {_origin(f"{module}.{alias.name}")} for alias in node.names}
    if isinstance(node, ast.Import):
        whole = {alias.asname or alias.name.split(".")[0]: alias for alias in node.names}
        return {name: {_origin(alias.name if alias.asname else name)} for name, alias in whole.items()}
    if _is_device(node):
        return {"DEVICE": {_origin("tiles.device.DEVICE")}}
    return {}


def _is_device(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets) == "DEVICE" and ast.unparse(node.value) == _DEVICE


def _origin(name: str) -> str:
    package, _, rest = name.partition(".")
    return f"import {_exported().get(rest, name) if package == 'tiles' else name}"


@functools.cache
def _exported() -> dict[str, str]:
    """What the package `tiles` takes from its modules: the full names."""
    folder = tiles_folder()
    body = ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body if folder else []
    imports = [node for node in body if isinstance(node, ast.ImportFrom)]
    return {alias.name: f"{node.module}.{alias.name}" for node in imports for alias in node.names}


def _bound(tree: ast.Module, text: str) -> Forms:
    """What a cell binds in the notebook, within functions by `global`."""
    found: Forms = {}
    stored = set()
    for node in _outside_functions(tree):
        _add(found, _definition(node))
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stored.add(node.id)
    try:
        table = symtable.symtable(text, "cell", "exec")
    except SyntaxError:  # such as `global x` after `x = 1`, which the parser lets through: the kernel will say it
        _add(found, {name: {""} for name in stored})
        return found
    assigned = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned()}
    _add(found, {name: {""} for name in assigned if name in stored or name not in found})
    waiting = table.get_children()
    while waiting:
        scope = waiting.pop()
        waiting += scope.get_children()
        declared = [symbol for symbol in scope.get_symbols() if symbol.is_declared_global()]
        _add(found, {symbol.get_name(): {""} for symbol in declared if symbol.is_assigned() or symbol.is_imported()})
    return found


def _outside_functions(tree: ast.Module) -> Iterator[ast.AST]:
    """What a cell holds, functions and classes included, without what these hold."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*_DEFINITIONS, ast.Lambda)) and not _is_device(node):
            waiting += ast.iter_child_nodes(node)


def _changed(tree: ast.Module, watched: set[str]) -> Iterator[str]:
    """Watched names that are set in the notebook's namespace, or whose attributes are set: `np.exp = ...`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            root = node.value
            while isinstance(root, (ast.Attribute, ast.Subscript)):
                root = root.value
            if isinstance(root, ast.Name) and root.id in watched and not is_setting(ast.unparse(node)):
                yield root.id
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Constant):
            space = node.value.func if isinstance(node.value, ast.Call) else node.value
            name = getattr(space, "id", None) or getattr(space, "attr", None)
            if name in _NAMESPACES and node.slice.value in watched:
                yield node.slice.value
