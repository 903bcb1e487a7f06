"""What surrounds an answer while it runs: no call of the specification, and exceptions told as verdicts."""

from __future__ import annotations

import contextlib
import linecache
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

from tiles import cells
from tiles.advice import of_exception
from tiles.blanks import NotYet, functions_of
from tiles.mistakes import recognise_error


def lines(*sentences: str) -> str:
    """Sentences as lines of a verdict; empty ones are left out."""
    return "\n".join(sentence for sentence in sentences if sentence)


def _not_to_be_called(*_, **__):
    raise PermissionError("the specification was called")


@contextlib.contextmanager
def refuse_calls_to(specification: Callable):
    """While the answer runs, calling the specification, under whatever name, is a verdict of its own.

    So is calling another function of the lesson that the specification names and that is called `..._reference`.
    """
    specifications = [f for f in functions_of(specification) if f is specification or f.__name__.endswith("_reference")]
    own = {f: f.__code__ for f in specifications if isinstance(f, FunctionType) and not f.__closure__}
    for function, code in own.items():
        function.__code__ = _not_to_be_called.__code__.replace(co_name=code.co_name)
    try:
        yield
    except PermissionError as error:
        if error.args != ("the specification was called",):
            raise
        called = [frame.name for frame in traceback.extract_tb(error.__traceback__)][-1]
        raise NotYet(f"The answer calls {called}, the specification. Write the steps yourself.") from None
    finally:
        for function, code in own.items():
            function.__code__ = code


@contextlib.contextmanager
def only_not_yet(exercise: str):
    """An exception in the student's code becomes a verdict that names its line, in the exercise's own cell where it can be."""
    try:
        yield
    except (NotYet, KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if not is_ours(f.filename)]
        own = [f for f in frames if _is_of(exercise, f.filename)] or frames
        where = f"Line {own[-1].lineno}, `{(own[-1].line or '').split('  #')[0].strip()}`, raises " if own else ""
        inside = f", in `{frames[-1].name}`" if own and frames[-1] is not own[-1] else ""
        if isinstance(error, NameError) and (first := cells.definition(str(error.name), exercise.split(".")[0])):
            raise NotYet(first) from error
        said = str(error).strip().split("\n")[0]
        what = f"{where}{type(error).__name__}{inside}: {said}.".replace("..", ".")
        known = recognise_error(exercise, f"{type(error).__name__}: {said}")
        raise NotYet(lines(what, known or of_exception(said, (own[-1].line or "") if own else ""))) from error


def _is_of(exercise: str, file: str) -> bool:
    """Whether a file is the cell of an exercise: it has a line `# Exercise 5.1`."""
    return f"# Exercise {exercise}" in (line.strip() for line in linecache.getlines(file))


_STANDARD = sysconfig.get_paths()["stdlib"]


def is_ours(file: str) -> bool:
    """Whether a file is none of the student's: of `tiles`, of an installed package, of Python itself."""
    if file.startswith(_STANDARD):
        return True
    return file.startswith(str(Path(__file__).parent)) or "site-packages" in file or file.startswith("<")
