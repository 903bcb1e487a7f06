"""Compiling a launch for a GPU that need not be there."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tiles.blanks import NotYet, refuse_blanks
from tiles.compiled.refusals import explain, refuse_and_or, refuse_fractions, refuse_too_large
from tiles.compiled.result import CompiledKernel, describe
from tiles.compiled.sources import forget_hashes
from tiles.compiled.targets import Target, find_target
from tiles.memory import WARP

_OWN_LOCK = threading.RLock()
_CACHE: dict[tuple, CompiledKernel] = {}


class NoCompiler(ImportError):
    """Triton is not here, or not able to compile. The message says what still works."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def _require_triton() -> None:
    try:
        import triton  # noqa: F401
    except ImportError:
        raise NoCompiler(
            f"Triton's compiler is not installed here ({sys.platform}; it comes for Linux). "
            "The NumPy lessons run without it; for the others, use Linux, WSL or a hosted notebook."
        ) from None
    if os.environ.get("TRITON_INTERPRET", "0") not in ("", "0"):
        raise NoCompiler(
            "TRITON_INTERPRET is set, which switches the compiler off. Unset it, restart Python, and run this again."
        )


def inspect_kernel(
    kernel: Any,
    *arguments: Any,
    target: str | Target = "H100",
    num_warps: int | None = None,
    num_stages: int | None = None,
    **constants: Any,
) -> CompiledKernel:
    """Compile a kernel as a launch would, and say what came out. Needs no GPU; takes about a second, once.

    kernel: a `@triton.jit` function, or an autotuned one (its first configuration, where nothing else is given).
    arguments: what a launch passes (tensors, numbers; nothing is computed), so that Triton specialises on them: addresses
        and sizes that are multiples of 16, and 1. Or one dictionary of types, as in Triton's ahead-of-time compiler:
        {"x_ptr": "*fp32:16", "n": "i32"}, where ":16" promises a multiple of 16 and ":1" the number 1.
    target: "T4", "A100", "H100", "H200" or "B200". num_warps, num_stages: Triton's defaults where left out.
    constants: arguments by name, above all the `tl.constexpr` ones, and other launch options.
    Raises CompileError when the compiler refuses the kernel, NoCompiler where there is none.
    """
    _require_triton()
    options = {"num_warps": num_warps, "num_stages": num_stages}
    named = {**constants, **{name: value for name, value in options.items() if value is not None}}
    if len(arguments) == 1 and isinstance(arguments[0], Mapping):
        return _compile(kernel, (), named, find_target(target), signature=arguments[0])
    return _compile(kernel, arguments, named, find_target(target))


def compile_gate(
    kernel: Any, arguments: Sequence[Any] = (), named: Mapping[str, Any] | None = None, target: str | Target = "H100"
) -> CompiledKernel:
    """Compile a launch for a GPU and refuse what that GPU would: what `kernel[grid](*arguments, **named)` asks for.

    Raises CompileError with the line, the compiler's words and what to write instead, also when a block needs more shared
    memory than the target has, and for `and` and `or` between tiles, which Triton accepts only for now.
    BlankLeft when the kernel still has blanks. The result has the lanes of each access.
    """
    _require_triton()
    target = find_target(target)
    compiled = _compile(kernel, tuple(arguments), dict(named or {}), target)
    refuse_and_or(_unwrap(kernel, (), {})[0], compiled)
    refuse_too_large(compiled)
    return compiled


def _compile(
    kernel: Any, arguments: tuple, named: dict[str, Any], target: Target, signature: Mapping[str, str] | None = None
) -> CompiledKernel:
    function, named = _unwrap(kernel, arguments, named)
    refuse_fractions(function, named, target)
    with _lock():
        _refuse_inside_a_launch()
        forget_hashes(function)
        with _silence() as said:
            try:
                source, options, gpu = _source(function, arguments, named, target, signature)
                key = (source.hash(), options.hash(), target.name)
                if key not in _CACHE:
                    refuse_blanks(function.__name__, function)
                    made = _triton_compile(source, options, gpu)
                    _CACHE[key] = describe(made, target, functools.partial(_machine_code, made, source, options, gpu))
                return _CACHE[key]
            except NotYet:
                raise
            except Exception as error:
                failure = error
        refuse_blanks(function.__name__, function)
        raise explain(failure, function, target, "".join(said)) from None


def _triton_compile(source: Any, options: Any, gpu: Any) -> Any:
    """What Triton makes of a kernel, for a plain one without the machine code: few ask for it, and it takes half of the time.

    It lies in a cache of its own, where no launch looks for its machine code.
    """
    import triton
    from triton import knobs

    with knobs.cache.scope(), knobs.runtime.scope():
        if knobs.runtime.add_stages_inspection_hook is None:
            knobs.cache.dir = os.path.join(knobs.cache.dir, "tiles")
            knobs.runtime.add_stages_inspection_hook = _leave_out_machine_code
        return triton.compile(source, target=gpu, options=dict(options.__dict__))


# What the assembler may refuse though the compiler has let it pass; it accepts what is made of all else.
_NOT_PLAIN = re.compile(r"inline_asm|extern_|atomic|cacheModifier|evictionPolicy|isVolatile|descriptor|tt\.dot|f8E")


def _leave_out_machine_code(backend: Any = None, stages: dict[str, Any] | None = None, *_: Any) -> tuple[str, str] | None:
    """Triton calls this with its stages, to change them, and without, for something to tell its cache entries apart."""
    if stages is None:
        return "tiles", "tiles"
    first, assemble, plain = stages["ttir"], stages["cubin"], []

    def ttir(module: Any, metadata: Any) -> Any:
        made = first(module, metadata)
        plain.append(not _NOT_PLAIN.search(str(made)))
        return made

    stages["ttir"] = ttir
    stages["cubin"] = lambda ptx, metadata: b"" if any(plain) else assemble(ptx, metadata)
    return None


def _machine_code(made: Any, source: Any, options: Any, gpu: Any) -> bytes:
    """The machine code of a kernel that Triton has compiled, made now where it was left out."""
    from triton.compiler import make_backend

    stages: dict[str, Any] = {}
    make_backend(gpu).add_stages(stages, options, source.language)
    return made.asm["cubin"] or stages["cubin"](made.asm["ptx"], {})


def _unwrap(kernel: Any, arguments: tuple, named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The `@triton.jit` function under autotuning and heuristics, and the arguments that these would add."""
    from triton.runtime.jit import JITFunction

    while not isinstance(kernel, JITFunction):
        if getattr(kernel, "configs", None):
            named = {**kernel.configs[0].all_kwargs(), **named}
        elif isinstance(getattr(kernel, "values", None), Mapping):
            known = {**dict(zip(kernel.arg_names, arguments)), **named}
            named = {**{name: value(known) for name, value in kernel.values.items()}, **named}
        if not hasattr(kernel, "fn"):
            raise TypeError(f"{getattr(kernel, '__name__', kernel)!r} is no kernel: it needs @triton.jit")
        kernel = kernel.fn
    return kernel, named


def _source(function: Any, arguments: tuple, named: dict[str, Any], target: Target, signature: Mapping[str, str] | None):
    """What Triton compiles: its source object, the options, and its name for the GPU."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, make_backend
    from triton.runtime.jit import create_function_from_signature

    gpu = GPUTarget("cuda", target.arch, WARP)
    backend = make_backend(gpu)
    if signature is not None:
        kinds, constants, attributes, options = _from_signature(function, signature, named)
        return ASTSource(function, kinds, constants, attributes), backend.parse_options(options), gpu
    named.setdefault("debug", bool(function.debug))
    bind = create_function_from_signature(function.signature, function.params, backend)
    bound, specialization, extra = bind(*arguments, **named)
    options, kinds, constants, attributes = function._pack_args(backend, named, bound, specialization, extra)
    return ASTSource(function, kinds, constants, attributes), options, gpu


def _from_signature(function: Any, signature: Mapping[str, str], named: dict[str, Any]) -> tuple[dict, dict, dict, dict]:
    """Types, constants, attributes and options for Triton, from types by name such as "*fp32:16"."""
    defaults = {name: p.default for name, p in function.signature.parameters.items() if p.default is not p.empty}
    values = {**defaults, **named}
    options = {name: value for name, value in named.items() if name not in function.arg_names}
    kinds: dict[str, str] = {}
    constants, attributes = {}, {}
    for index, parameter in enumerate(function.params):
        name = parameter.name
        if name not in values and (parameter.is_constexpr or name not in signature):
            raise TypeError(f"missing a {'value' if parameter.is_constexpr else 'type'} for argument {name!r}")
        kind, _, hint = str(signature.get(name, "constexpr")).partition(":")
        if parameter.is_constexpr or name not in signature or hint == "1":
            kind, constants[(index,)] = "constexpr", 1 if hint == "1" else values.get(name)
        elif hint == "16":
            attributes[(index,)] = [["tt.divisibility", 16]]
        kinds[name] = kind
    if unknown := set(signature) - set(function.arg_names):
        raise TypeError(f"no argument is called {', '.join(map(repr, sorted(unknown)))}")
    return kinds, constants, attributes, options


def _lock() -> threading.RLock:
    """The interpreter's lock where that is loaded: it replaces parts of Triton's language while a kernel runs."""
    return getattr(sys.modules.get("tiles.interpreter.dispatch"), "LOCK", _OWN_LOCK)


def _refuse_inside_a_launch() -> None:
    import triton.language as tl

    if getattr(tl.load, "__module__", "") != "triton.language.core":
        raise RuntimeError("a kernel is being interpreted: compile before the launch or after it")


@contextlib.contextmanager
def _silence() -> Iterator[list[str]]:
    """Keep what the compiler prints, from Python or from C, off the screen; the list holds it afterwards."""
    said: list[str] = []
    printed = io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(printed))
        file = stack.enter_context(tempfile.TemporaryFile())
        try:
            screen = os.dup(2)
        except OSError:
            yield said
            return
        os.dup2(file.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(screen, 2)
            os.close(screen)
            file.seek(0)
            said += [file.read().decode(errors="replace"), printed.getvalue()]
