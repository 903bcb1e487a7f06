"""What the compiler refuses: the line, its words, and what to write instead."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from collections.abc import Mapping
from typing import Any

from tiles.blanks import NotYet
from tiles.compiled.result import CompiledKernel
from tiles.compiled.sources import line_of, locations, reachable, text_of
from tiles.compiled.targets import TENSOR_MEMORY_COLUMNS, Target


class CompileError(NotYet):
    """A kernel that the compiler refuses, or that the target cannot run.

    kernel: the name of the function in which it stands. line: of the cell or file, None where it has no line.
    text: that line. words: the compiler's own, shortened. advice: what to write instead, or "". target: a Target.
    """

    def __init__(self, words: str, *, kernel: str, target: Target, line: int | None = None, text: str = "", advice: str = ""):
        self.words, self.kernel, self.target, self.line, self.text, self.advice = words, kernel, target, line, text, advice
        where = f"line {line} of {kernel}, `{text}`" if line else kernel
        super().__init__(f"The compiler refuses {where}: {words}." + (f"\n{advice}." if advice else ""))


_ADVICE = (
    (r"node type: Break\b", "A kernel has no break: put the condition into the bounds of the loop, or into a mask"),
    (r"node type: Continue\b", "A kernel has no continue: put the rest of the loop's body under an `if`, or use a mask"),
    (r"node type: (List|Dict|Set)\b|tuple comprehensions|no attribute '(append|items)'",
     "A kernel has no lists and dictionaries: use a variable for each value, or a tile"),
    (r"node type: Lambda\b|StopIteration|[Nn]ested function", "Write the inner function as a kernel of its own, with @triton.jit, outside this one"),
    (r"node type: (Import|ImportFrom|Global|Nonlocal)\b", "Write this outside the kernel"),
    (r"node type: (Try|With|Raise|Delete|NamedExpr|Yield|Await)\b", "A kernel has no such statement; leave it out"),
    (r"`return` statements inside", "Return before the loop or after it; to leave work out, use a mask"),
    (r"multiple comparison", "Compare twice: `(0 <= i) & (i < n)`"),
    (r"[Mm]ultiple assignment", "Write one assignment a line"),
    (r"Boolean value of Tensor|truth value",
     "A tile has many truth values: use `&`, `|` and `~`, and `tl.where` or a mask instead of `if`"),
    (r"global variable (\w+)", "Pass `{1}` as an argument, or write `{1} = tl.constexpr(...)` outside the kernel"),
    (r"Loop-carried variable (\w+) has initial type (?!<)\S+ but is re-assigned to <",
     "`{1}` is one number before the loop and a tile after it: start with `{1} = tl.zeros([BLOCK_SIZE], tl.float32)`, "
     "or whatever the sides of the tile are"),
    (r"Loop-carried variable (\w+)",
     "Give `{1}` its final type before the loop: `{1} = 0.0`, or `{1} = tl.zeros([...], tl.float32)` where it is a tile"),
    (r"Mismatched type for (\w+)", "Give `{1}` the same type and shape in both branches, or use `tl.where`"),
    (r"num_warps must be", "A program has 1, 2, 4, 8, 16 or 32 warps"),
    (r"power of 2", "Tiles have powers of two: use the next one and a mask (`triton.next_power_of_2(n)` in the launcher)"),
    (r"must be of type tl\.constexpr|must have type `?constexpr",
     "The size of a tile is known when the kernel is compiled: declare it `BLOCK_SIZE: tl.constexpr` in the signature"),
    (r"K >= (\d+)", "tl.dot needs at least {1} along K for this type: use a larger BLOCK_K, padded with zeros by a mask"),
    (r"equal reduction dimensions", "tl.dot multiplies [M, K] by [K, N]: transpose one with `tl.trans`"),
    (r"must be same dtype", "Convert one operand of tl.dot: `a.to(b.dtype)`"),
    (r"maximum tensor numel|exceeds triton maximum", "A tile has at most 1,048,576 elements: use a smaller block and a loop"),
    (r"unsupported tensor index|__setitem__|not subscriptable",
     "The elements of a tile cannot be picked or set: load them with pointers of their own, or use `tl.where` and a reduction"),
    (r"__pow__|for \*\*", "Multiply, or use `tl.exp2(y * tl.log2(x))`"),
    (r"(float|int|bool)\(\) argument", "Convert with `x.to(tl.float32)`"),
    (r"without `mask`", "Give the load a mask as well, or leave `other` out"),
    (r"cannot be block type if pointer", "The pointer is a single one: add the offsets of the tile to it"),
    (r"make_shape_compatible|[Ii]ncompatible dimensions", "Make the shapes fit with `[:, None]` and `[None, :]`"),
    (r"1-bit signless", "A mask is a comparison, such as `offs < n`"),
    (r"invalid operands of type pointer", "Offsets are integers: use `//` and integer arguments"),
    (r"f-string", "To print from a kernel, use `tl.device_print`"),
    (r"'Tuple' object has no attribute 'func'|enumerate is not|zip is not",
     "A loop in a kernel runs over `range(...)` or `tl.static_range(...)`"),
    (r"module '[\w.]+' has no attribute '(\w+)'", "Triton has no {1}: look up what it is called there"),
    (r"Keyword argument (\w+) was", "{1} is neither an argument of the kernel nor a launch option such as num_warps"),
    (r"failed to specialize argument", "Pass tensors and numbers to a kernel"),
    (r"Unsupported ptr type", "The first argument is a pointer: `x_ptr + offs`"),
)  # fmt: skip


def refuse_fractions(kernel: Any, named: Mapping[str, Any], target: Target) -> None:
    """Refuse launch options that count something and are floats: Triton fails at them far from the launch."""
    for name in ("num_warps", "num_stages", "num_ctas"):
        if isinstance(value := named.get(name), float):
            raise CompileError(
                f"{name} is {value}, which is no whole number",
                kernel=kernel.__name__,
                target=target,
                advice="`//` divides whole numbers, and gives one",
            )


def explain(error: Exception, function: Any, target: Target, said: str = "") -> CompileError:
    """A CompileError for what went wrong when Triton compiled `function`.

    error: Triton's. said: what the compiler printed to stderr meanwhile.
    """
    kernels = reachable(function)
    words, kernel, node = _deepest(error, kernels)
    line, printed = _printed(said, kernels)
    if printed is not None:
        kernel, words = printed
    elif node is None:
        kernel, node = _culprit(words, kernels)
    kernel = kernel or function
    if node is not None and printed is None:
        line = line_of(kernel, node)
    text = text_of(kernel, line) if line else ""
    said, advice = _of_this_line(words, text, kernel) or (_shorten(words), _advice(words, kernel, node))
    return CompileError(said, kernel=kernel.__name__, target=target, line=line, text=text, advice=advice)


def _of_this_line(words: str, text: str, kernel: Any) -> tuple[str, str] | None:
    """Words and advice where the compiler's own words lead astray, given the text of the line; None where they do not."""
    if re.search(r"(?<![\w.])print\(", text):
        return "the compiler's `print` takes a text first, and then values", 'Write `print("pid", pid)`, or take it out'
    if re.search(r"tl\.arange\((?!\s*0\s*,)", text) and "constexpr" in words:
        start = "A tile starts at a number that is known when the kernel is compiled"
        return _shorten(words), f"{start}. Add what is not to the tile: `start + tl.arange(0, BLOCK_SIZE)`"
    if (name := re.search(r"global variable (\w+)", words)) and _is_set_in(name[1], kernel):
        inside = f"`{name[1]}` exists only inside the loop or the `if` that sets it"
        return f"{name[1]} is not defined here", f"{inside}: use it there, or give it a value before"
    return None


def _deepest(error: BaseException, kernels: list[Any]) -> tuple[str, Any, ast.AST | None]:
    """The innermost message, and the innermost place that is in the student's code."""
    words, kernel, node = "", None, None
    chain = error
    while chain is not None:
        text = getattr(chain, "error_message", None) or ("" if hasattr(chain, "node") else str(chain))
        words = text or words
        here = next((k for k in kernels if k.src == getattr(chain, "src", None)), None)
        if here is not None and hasattr(getattr(chain, "node", None), "lineno"):
            kernel, node = here, chain.node
        chain = chain.__cause__
    return words or type(error).__name__, kernel, node


def _printed(said: str, kernels: list[Any]) -> tuple[int | None, tuple[Any, str] | None]:
    """The first error that the compiler printed about one of the kernels: its line, and the kernel and the words."""
    for path, line, words in re.findall(r'^(?:loc\()?"?([^"\n]+?)"?:(\d+):\d+\)?: error: (.*)$', said, re.MULTILINE):
        for kernel in kernels:
            first = kernel.starting_line_number
            if kernel.fn.__code__.co_filename == path and first <= int(line) < first + len(kernel.raw_src):
                return int(line), (kernel, words)
    return None, None


def _culprit(words: str, kernels: list[Any]) -> tuple[Any, ast.AST | None]:
    """Where the function that `words` complains about is named, for the errors that come without a place."""
    for kernel in kernels:
        scope = kernel.get_capture_scope()
        for node in ast.walk(kernel.parse()):
            if isinstance(node, ast.Assign) and len(node.targets) > 1 and "multiple assignment" in words.lower():
                return kernel, node
            if isinstance(node, (ast.Name, ast.Attribute)) and "function referenced: " in words:
                if f"referenced: {_value(node, scope)}" in words:
                    return kernel, node
    return None, None


def _value(node: ast.AST, scope: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    return getattr(_value(node.value, scope), node.attr, None) if isinstance(node, ast.Attribute) else None


def _shorten(words: str) -> str:
    """The compiler's words without Python's wrapping, in one line of at most 160 characters."""
    words = re.sub(r"^(\w+)\((['\"])(.*)\2\)$", r"\3", words.strip(), flags=re.DOTALL)
    words = re.sub(r"^'([^']*)'$", r"\1", words)
    words = re.sub(r"<\[([^\]]*)\], (\w+)>", lambda m: f"a tile [{m[1].replace(chr(39), '')}] of {m[2]}", words)
    words = re.sub(r"constexpr\[(.+?)\]", r"\1", words)
    words = re.sub(r"^\w+\(\)$", "this is not supported", words)
    words = re.sub(r"<class '(?:[\w.]*\.)?(\w+)'>", r"\1", words)
    words = re.sub(r"<[\w.]*\.(\w+) object at 0x\w+>", r"a \1", words)
    words = re.sub(r" from within @jit'ed function.*", " from within a kernel", words, flags=re.DOTALL)
    words = re.sub(r"<(?:ufunc|function|built-in (?:function|method)) '?([\w.<>]+?)'?(?: .*)?>$", r"\1", words)
    words = (words.splitlines() or [""])[0].split("! Please")[0].replace("AST node type: ", "").replace("dynamic_func() ", "")
    return textwrap.shorten(words, 160, placeholder=" …").rstrip(". ")


def _advice(words: str, kernel: Any, node: ast.AST | None) -> str:
    if (name := re.search(r"(\w+) is not defined", words)) and name[1] not in ("enumerate", "zip"):
        return _advice_on_name(name[1], kernel)
    if "function referenced" in words:
        return _advice_on_function(node)
    if name := re.search(r"required positional arguments?: (.*)|missing a (?:type|value) for argument (.*)", words):
        return f"Pass {name[1] or name[2]} to the kernel"
    for pattern, advice in _ADVICE:
        if found := re.search(pattern, words):
            return re.sub(r"\{1\}", lambda _, found=found: found[1], advice)
    return ""


def _advice_on_name(name: str, kernel: Any) -> str:
    if _is_set_in(name, kernel):
        return f"Give `{name}` a value before the `if` or the loop in which it is first set"
    if hasattr(builtins, name):
        return f"Python's {name} does not exist in a kernel" + _instead(name)
    return f"Set `{name}` before this line, pass it to the kernel, or correct its spelling"


def _is_set_in(name: str, kernel: Any) -> bool:
    nodes = (node for node in ast.walk(kernel.parse()) if isinstance(node, ast.Name))
    return any(node.id == name and isinstance(node.ctx, ast.Store) for node in nodes)


def _advice_on_function(node: ast.AST | None) -> str:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    if isinstance(node, ast.Attribute):
        return "NumPy, PyTorch and Python modules do not exist in a kernel" + _instead(name)
    return f"A kernel calls only kernels and Triton's functions: put @triton.jit above {name or 'the helper'}"


def _instead(name: str) -> str:
    import triton.language as tl

    name = {"max": "maximum", "min": "minimum"}.get(name, name)
    return f": use tl.{name}" if hasattr(tl, name) else ""


def refuse_and_or(kernel: Any, compiled: CompiledKernel) -> None:
    """Refuse `and` and `or` between tiles: deprecated in Triton, and wrong where a kernel is interpreted.

    Where a tile of truth values is combined, Triton names the start of a side (to 3.7), or of the whole, from 1.
    """
    places = {name: place[1:] for name, place in locations(compiled.ttir).items()}
    names = re.findall(r"arith\.(?:andi|ori) .*tensor<\S*xi1> loc\((#loc\d*)\)", compiled.ttir)
    combined = {places[name] for name in names if name in places}
    for part in reachable(kernel) if combined else ():
        margin = len(part.raw_src[0]) - len(part.raw_src[0].lstrip())
        for node in (n for n in ast.walk(part.parse()) if isinstance(n, ast.BoolOp)):
            starts = {(line_of(part, side), side.col_offset) for side in node.values[1:]}
            starts |= {(line_of(part, node), node.col_offset + 1 + indent) for indent in (0, margin)}
            if combined & starts:
                word, sign = ("and", "&") if isinstance(node.op, ast.And) else ("or", "|")
                line = line_of(part, node)
                raise CompileError(
                    f"`{word}` is deprecated for non-scalar tensors",
                    kernel=part.__name__,
                    target=compiled.target,
                    line=line,
                    text=text_of(part, line),
                    advice=f"Write `{sign}` between tiles, with both sides in parentheses: `(i < m) {sign} (j < n)`",
                )


def refuse_too_large(compiled: CompiledKernel) -> None:
    """Refuse a block that needs more on-chip memory than the target has; the compiler does not look."""
    target = compiled.target
    for needs, limit, what in (
        (compiled.shared_dynamic, target.shared_per_block, "B of shared memory"),
        (compiled.tensor_memory, TENSOR_MEMORY_COLUMNS, "columns of tensor memory"),
    ):
        if needs > limit:
            raise CompileError(
                f"a block needs {needs:,} {what}, and {target.name} has {limit:,} for it",
                kernel=compiled.name,
                target=target,
                advice="Use smaller tiles, a smaller num_stages, or a smaller dtype",
            )
