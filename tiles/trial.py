"""One answer under one check: called, compared, counted; whatever is wrong becomes a verdict."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import io
import linecache
import os
import re
import traceback
import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tiles.advice import advice, of_launches, precedence
from tiles.blanks import NotYet, functions_of
from tiles.cases import Case
from tiles.diagnose import (
    SUBTRACT,
    Difference,
    amount,
    apart_by_sizes,
    apart_by_tiles,
    apart_by_values,
    in_terms_of_sizes,
    likely_cause,
    meaning_of_warning,
    resembles,
)
from tiles.guards import is_ours, lines, only_not_yet, refuse_calls_to
from tiles.memory import SECTOR, CountedArray, LoadCounter, largest_load, uncounted, unwritten
from tiles.mistakes import recognise, recognise_fault, recognise_launches, recognise_warning

UNIT_ROUNDOFF = {"float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}
GATE = "H100"  # the GPU that kernels are compiled for; one that they are compiled for need not be there
EXPONENTIAL = re.compile(r"exp2?\b|softmax|sigmoid|\blog|tanh|erf\b", re.IGNORECASE)  # in the source of a function
MOST_PROGRAMS = 4000  # that a check interprets, all cases together: some ten seconds
FEW = 8  # inputs of up to so many numbers are shown
SAFETY = 8  # how many times the statistical bound u * sqrt(steps) * magnitude an error may be


@dataclass
class Trial:
    """One answer under one check: what `check` was called with, and what is known so far."""

    exercise: str
    answer: Callable
    against: Callable
    moves: Callable[..., int] | None
    memory: Callable[..., int] | None
    sectors: Callable[..., int] | None
    compiled: Callable[..., str] | None
    steps: int | Callable[..., int]
    magnitude: Callable | None
    returns: tuple[str, ...]
    note: str
    cases: Sequence[Case]
    saving: str
    label: str = ""  # of the case that is tried
    passed: list[Case] = field(default_factory=list)
    built: dict[tuple, Any] = field(default_factory=dict)  # by id and constants: the kernels that the compiler has accepted
    programs: int = 0  # interpreted so far
    sources: dict[int, tuple[Any, str]] = field(default_factory=dict)  # by id: a function and its source
    no_whole_number: tuple[str, str] | None = None  # label and verdict: the first float where a whole number is expected

    # ---- NumPy answers: they return their result, or fill a CountedArray

    def call(self, case: Case) -> Callable[[], str]:
        """Raise NotYet unless the result is right. Returns what judges the budgets, and says what was measured, or ""."""
        self.label = case.label
        given, filled = self._arguments(case)
        if case.raises:
            self._refuses(given, case)
            return str
        weighed = bool(self.memory) and case is self._largest
        if weighed and not self.passed:
            self._warm_up(case)
        result, peak = self._run_numpy(given + filled, case, weighed)
        for name, before, after in zip(_parameters(self.answer), case.inputs, given):
            if not _same(before, after):
                raise NotYet(f"The function changed its input {name}. Work on a copy.")
        expected = self._expected(case)
        got = [uncounted(f) for f in filled] if filled else _results(result, len(expected), self.returns)
        dtypes = [o.dtype for o in case.outputs] or [_dtype(case)] * len(expected)
        names = self.returns or _output_names(self.answer, case) or [""] * len(expected)
        missing = [unwritten(f) for f in filled] or [None] * len(got)
        self._compare(got, expected, missing, names, case, dtypes, case.sizes)
        return functools.partial(self._numpy_budgets, case, given, filled, peak)

    def _arguments(self, case: Case) -> tuple[list, list]:
        """The inputs of a call, and the arrays that it fills."""
        given = [_copied(value) for value in case.inputs]
        if self.moves:
            given = [CountedArray(value) if isinstance(value, np.ndarray) else value for value in given]
        return given, [CountedArray(np.full(o.shape, np.nan, o.dtype)) for o in case.outputs]

    @functools.cached_property
    def _largest(self) -> Case | None:
        """The case in which memory is measured: the one with most elements."""
        called = [case for case in self.cases if not (case.launcher or case.raises)]
        return max(called, key=lambda case: sum(a.size for a in _arrays(case.inputs)), default=None)

    def _warm_up(self, case: Case) -> None:
        """A call for what only the first call does, such as imports; what is wrong in it, the next call tells."""
        given, filled = self._arguments(case)
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with refuse_calls_to(self.against):
                self.answer(*given, *filled, **case.options)

    def _numpy_budgets(self, case: Case, given: list, filled: list, peak: int) -> str:
        self.label, said = case.label, ""
        if self.moves:
            counted = [(name, a) for name, a in zip(_parameters(self.answer), given) if isinstance(a, CountedArray)]
            parts = ", ".join(f"{a.reads + a.writes} of {name}" for name, a in counted) if len(counted) > 1 else ""
            moved = sum(a.reads + a.writes for a in given + filled if isinstance(a, CountedArray))
            self._through_the_counter(moved, given)
            said = self._within_budget(moved, case, parts)
            self._block_by_block(counted, case)
        if peak and peak > (allowed := self.memory(**case.sizes)):
            raise NotYet(
                f"The values are right, but the function holds {peak:,} B of its own at once, where {allowed:,} B suffice"
                f"{self._beside_the_inputs(case)}. {self.saving or 'Keep one block at a time, and no array as long as the input.'}"
            )
        return said

    def _beside_the_inputs(self, case: Case) -> str:
        """What the memory that a function holds may be compared with: ", and all of x is 8,000 B"."""
        arrays = [(a.nbytes, name) for name, a in zip(_parameters(self.answer), case.inputs) if isinstance(a, np.ndarray)]
        size, name = max(arrays, default=(0, ""))
        return f", and all of {name} is {size:,} B" if size else ""

    def _through_the_counter(self, moved: int, given: Sequence[Any]) -> None:
        """An answer that is given a LoadCounter reads through it."""
        for counter in given:
            if isinstance(counter, LoadCounter) and (missed := moved - counter.elements) > 0:
                raise NotYet(
                    f"The values are right, but {missed} of {moved} elements are read without the counter: "
                    "`counter.load(matrix, rows, cols)` instead of `matrix[rows, cols]`."
                )

    def _block_by_block(self, counted: Sequence[tuple[str, CountedArray]], case: Case) -> None:
        """Fast memory has room for one block of a row."""
        block = case.sizes.get("block_size")
        for name, array in counted:
            if block and array.ndim == 1 and largest_load(array) > block:
                raise NotYet(
                    f"The values are right, but {largest_load(array)} elements of {name} are loaded at once, "
                    f"and fast memory has room for a block of {block}. Load {name} block by block, block_size elements at a time."
                )

    def _run_numpy(self, arguments: list, case: Case, weighed: bool) -> tuple[Any, int]:
        with warnings.catch_warnings(record=True) as caught, only_not_yet(self.exercise), refuse_calls_to(self.against):
            warnings.simplefilter("always")
            if weighed:
                tracemalloc.start()
            try:
                result = _settled(self.answer(*arguments, **case.options))
            finally:
                peak = tracemalloc.get_traced_memory()[1] if weighed else 0
                if weighed:
                    tracemalloc.stop()
        for warning in caught:
            if issubclass(warning.category, RuntimeWarning):
                line = linecache.getline(warning.filename, warning.lineno).split("  #")[0].strip()
                where = f"line {warning.lineno}" + (f", `{line}`" if line else "")
                values = self._at_the_warning(case)
                known = recognise_warning(self.exercise, values) or self._known_in_spite_of_a_warning(result, case)
                there = ", ".join(f"{name} = {value:.6g}" for name, value in values.items() if _is_in(name, value, line))
                raise NotYet(
                    lines(
                        f"NumPy warns in {where}: {warning.message}{there and f' ({there})'}.",
                        known or meaning_of_warning(str(warning.message)) or "Which values meet there?",
                        "" if known else apart_by_values(case, self.passed),
                    )
                )
        return result, peak

    def _at_the_warning(self, case: Case) -> dict[str, Any]:
        """The variables of the answer where NumPy warns for the first time: the answer is called once more to see them."""
        given, filled = self._arguments(case)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("error", RuntimeWarning)
            try:
                self.answer(*given, *filled, **case.options)
            except Exception as error:
                frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if not is_ours(frame.f_code.co_filename)]
                return dict(frames[-1].f_locals) if frames and isinstance(error, RuntimeWarning) else {}
        return {}

    def _known_in_spite_of_a_warning(self, result: Any, case: Case) -> str:
        """The sentence for a mistake that explains what was returned after a warning, where some of it is finite."""
        results = [r for r in (result if isinstance(result, tuple) else (result,)) if isinstance(r, np.ndarray)]
        inputs = [_as_double(value) for value in case.inputs]
        for which, values in enumerate(results):
            finite = values[np.isfinite(values)]
            if 0 < finite.size < values.size:
                return recognise(self.exercise, inputs, case.options, results, which, 1e-5 * np.abs(finite).max())
        return ""

    def _refuses(self, given: list, case: Case) -> None:
        """A case that the answer must refuse, with an exception that says why."""
        name = case.raises.__name__
        with warnings.catch_warnings(), only_not_yet(self.exercise):
            warnings.simplefilter("ignore")
            try:
                self.answer(*given, **case.options)
            except case.raises as error:
                if str(error).strip():
                    return
                raise NotYet(f'The {name} has no message: say what is wrong, as in `raise {name}("...")`.') from None
        raise NotYet(f"These arguments make no sense: the function should raise {name}, and it returns something.")

    def _within_budget(self, moved: int, case: Case, parts: str) -> str:
        n = max(1, max((a.size for a in case.inputs if isinstance(a, np.ndarray)), default=1))
        allowed = self.moves(**case.sizes)
        if moved > allowed:
            parts = parts or f"{moved / n:.3g} for each of the input, not {allowed / n:.3g}"
            raise NotYet(
                f"The values are right, but {moved} elements are read and written ({parts}), and {allowed} would do. "
                f"{self.saving or 'Load each block once in a pass, and keep what you need of it.'}"
            )
        self._least(moved, allowed, case)
        return f"{allowed / n:.3g} element{'s' * (allowed != n)} moved for each of the input"

    # ---- launchers: they fill their outputs by launching kernels

    def launch(self, case: Case) -> Callable[[], str]:
        """Raise NotYet unless the outputs are right in the interpreter.

        Returns what judges the budgets, and says what was measured, or "".
        """
        from tiles import interpreter, launchers

        self.label = case.label
        most = min(launchers.MOST_PROGRAMS, MOST_PROGRAMS - self.programs)
        try:
            with only_not_yet(self.exercise), refuse_calls_to(self.against), contextlib.redirect_stdout(io.StringIO()):
                tried = launchers.attempt(self.answer, case, "cpu", most)
        except interpreter.KernelError as fault:
            self.label = _with_constants(case.label, fault)
            raise NotYet(self._explained(fault, case)) from None
        constants = {}
        for one in tried.traffic.launches:
            constants.update({k: v for k, v in one.constants.items() if isinstance(v, int)})
        self.label = ", ".join([case.label] + [f"{k} = {v}" for k, v in constants.items() if k.isupper()])
        self._refuse_old_content(tried, case)
        self._refuse_scratch(tried, case)
        names, elements = _output_names(self.answer, case), sum(output.size for output in tried.outputs)
        seen = recognise_launches(self.exercise, tried.traffic, case)
        seen = seen or of_launches(tried.traffic, _parameters(self.answer)[: len(case.inputs)], names, elements)
        self.programs += tried.traffic.programs
        self._compare_launch(tried, case, {**constants, **case.sizes}, self._mentions_exponentials(tried.traffic), seen)
        self._refuse_what_the_compiler_refuses(tried.traffic)
        return functools.partial(self._launch_budgets, case, tried.traffic, self.label)

    def launch_on_the_gpu(self, cases: Sequence[Case]) -> None:
        """What is right in the interpreter, natively; nothing where there is no GPU."""
        from tiles import launchers
        from tiles.device import DEVICE

        for case in cases if DEVICE != "cpu" else ():
            self.label = f"{case.label}, on the GPU"
            with only_not_yet(self.exercise), refuse_calls_to(self.against):
                tried = launchers.attempt(self.answer, case, DEVICE, launchers.MOST_PROGRAMS)
            self._compare_launch(tried, case, case.sizes)

    def _compare_launch(self, tried, case: Case, sizes, *rest) -> None:
        names, dtypes = _output_names(self.answer, case), [o.dtype for o in case.outputs]
        self._compare(tried.outputs, self._expected(case), tried.unwritten, names, case, dtypes, sizes, *rest)

    def _launch_budgets(self, case: Case, traffic, label: str) -> str:
        self.label = label
        said = self._traffic_within_budget(traffic, case) if self.moves else ""
        said = self._sectors_within_budget(traffic, case) if self.sectors else said
        self._refuse_compiled(traffic, case)
        return said

    def _refuse_what_the_compiler_refuses(self, traffic) -> None:
        """The interpreter accepts Python that no GPU runs, so each kernel is compiled as well, once for each set of constants."""
        for launch in traffic.launches:
            kernel = launch.request[0]  # its hash would need all that it calls to be right
            key = (id(kernel), repr(sorted(launch.constants.items())))
            if key not in self.built:
                launch.compiled(GATE)
                self.built[key] = kernel

    def _mentions_exponentials(self, traffic) -> bool:
        """Whether an exponential or a logarithm is near: in the specification, the launcher or a kernel."""
        functions = [self.against, self.answer, *(launch.request[0].fn for launch in traffic.launches)]
        return any(EXPONENTIAL.search(self._source_of(function)) for function in functions)

    def _source_of(self, function: Callable) -> str:
        """Its source, looked up once: it takes as long as a small launch."""
        if id(function) not in self.sources:
            self.sources[id(function)] = function, _source(function)  # held, so that no other one gets its id
        return self.sources[id(function)][1]

    def _explained(self, fault: Any, case: Case) -> str:
        """A KernelError's message, and the mistake that explains it or what to do about it."""
        return lines(fault.message, recognise_fault(self.exercise, fault, case) or advice(fault, case, self.passed))

    def launch_backwards(self, case: Case) -> None:
        """A case that is right, with the programs of each launch in another order: a GPU promises none."""
        from tiles import interpreter, launchers

        self.label = f"{case.label}, the programs in another order"
        try:
            with interpreter.order("reversed"):
                tried = launchers.attempt(self.answer, case, "cpu")
            self._compare_launch(tried, case, case.sizes)
        except NotYet as wrong:
            if getattr(wrong, "kind", "") == "waiting":
                raise NotYet(self._explained(wrong, case)) from None
            first = str(wrong).split("\n")[0]
            raise NotYet(
                lines(first, "The result depends on the order in which the programs run: give each its own output.")
            ) from None

    def _refuse_old_content(self, tried, case: Case) -> None:
        """An output that was read and stored, and still is what it was: nan plus anything."""
        loads, stores = tried.traffic.loads, tried.traffic.stores
        for name, missing in zip(_output_names(self.answer, case), tried.unwritten):
            if missing.size and missing.all() and loads.get(name) and stores.get(name, 0) >= missing.size:
                raise NotYet(
                    f"The kernel adds to what {name} held before the launch, and nobody knows what that is. Store the result instead."
                )

    def _refuse_scratch(self, tried, case: Case) -> None:
        """Scratch memory that was read before anything was stored in it, and went into an output."""
        for name, nan in zip(_output_names(self.answer, case), tried.from_scratch):
            if nan.any():
                count = "1 element" if nan.sum() == 1 else f"{nan.sum()} elements"
                raise NotYet(
                    f"{count} of {name}: computed from scratch memory in which nothing had been stored. "
                    "torch.empty holds whatever lay there before: store into it first, or ask for torch.zeros."
                )

    def _traffic_within_budget(self, traffic, case: Case) -> str:
        output = case.outputs[0]
        elements, itemsize = max(1, int(np.prod(output.shape))), np.dtype(output.dtype).itemsize
        allowed = self.moves(**case.sizes) * itemsize
        if traffic.bytes > allowed:
            raise NotYet(
                f"The values are right, but the kernel moves {amount(traffic.bytes / elements)} B per element of the output, "
                f"where {amount(allowed / elements)} B suffice.\n"
                + _by_line(traffic, recognise_launches(self.exercise, traffic, case))
            )
        self._least(traffic.bytes, allowed, case)
        return f"{allowed / elements:.3g} B per element moved, the minimum"

    def _sectors_within_budget(self, traffic, case: Case) -> str:
        asked, allowed = sum(traffic.sectors.values()), self.sectors(**case.sizes)
        useful = f"{100 * traffic.bytes / (SECTOR * asked):.0f} %" if asked else "100 %"
        if asked > allowed:
            raise NotYet(
                f"The values are right, but the warps ask for {asked:,} sectors, where {allowed:,} would do "
                f"({useful} of their bytes are used).\n"
                + _sectors_by_line(traffic, recognise_launches(self.exercise, traffic, case))
            )
        self._least(asked, allowed, case)
        return f"{useful} of every sector used"

    def _refuse_compiled(self, traffic, case: Case) -> None:
        """Raise NotYet for a launch that computes what it should and compiles to something else than it should."""
        for launch in traffic.launches if self.compiled else ():
            if lacks := self.compiled(launch.compiled(GATE)):
                raise NotYet(lines(f"The values are right. {lacks}", recognise_launches(self.exercise, traffic, case)))

    def _least(self, moved: int, allowed: int, case: Case) -> None:
        """The line of a right answer says the budget, so it must be the least that any right answer moves.

        Raises ValueError, when a lesson is executed by its author, where the solution itself needs less.
        """
        if moved < allowed and not self.note and os.environ.get("TILES_AUTHOR"):
            raise ValueError(
                f"{case.label}: the solution moves {moved}, less than the budget of {allowed}: lower it, or give a note"
            )

    # ---- both

    def _expected(self, case: Case) -> list[np.ndarray]:
        with np.errstate(all="ignore"):
            wanted = self.against(*[_as_double(value) for value in case.inputs], **case.options)
        wanted = list(wanted) if isinstance(wanted, tuple) else [wanted]
        wanted = [np.asarray(w) for w in wanted]
        if any(np.isnan(w).any() for w in wanted if w.dtype.kind == "f"):
            raise ValueError(f"the specification gives nan for {case.label}: choose inputs for which it is defined")
        return wanted

    def _compare(self, got, expected, unwritten, names, case, dtypes, sizes, exponential=True, seen="") -> None:
        """Raise NotYet for the first result that differs. seen: what the launches did, where it explains a wrong result."""
        magnitudes = expected
        if self.magnitude:
            with np.errstate(all="ignore"):
                magnitudes = self.magnitude(*[_as_double(value) for value in case.inputs], **case.options)
            magnitudes = magnitudes if isinstance(magnitudes, tuple) else (magnitudes,)
        right = []
        for which, (g, e, u, name, m, dtype) in enumerate(zip(got, expected, unwritten, names, magnitudes, dtypes)):
            if wrong := _no_number(name or "The result", g, e):
                raise NotYet(wrong)
            g = np.asarray(g)
            if g.ndim and not e.ndim:
                known = recognise(self.exercise, [_as_double(value) for value in case.inputs], case.options, got, which)
                what = f"{name or 'The result'} has shape {g.shape}, expected one number"
                raise NotYet(lines(f"{what}.", known) if known else f"{what}: is a sum, or a maximum, missing?")
            if g.shape != e.shape:
                known = recognise(self.exercise, [_as_double(value) for value in case.inputs], case.options, got, which)
                raise NotYet(lines(f"{name or 'The result'} has shape {g.shape}, expected {e.shape}.", known))
            if g.ndim and e.dtype.kind == "f" and g.dtype != dtype:
                raise NotYet(f"{name or 'The result'} is {g.dtype}, expected {dtype}, the dtype of the input.")
            tolerance = _tolerance(dtype, self.steps(**case.sizes) if callable(self.steps) else self.steps, m)
            difference = Difference(g, e, tolerance, u, sizes, case.kind, exponential=exponential)
            if difference.bad.any():
                also = f" ({' and '.join(right)} {'is' if len(right) == 1 else 'are'} right.)" if right else ""
                what = difference.describe(name if len(got) > 1 else "") + also
                known = recognise(
                    self.exercise, [_as_double(value) for value in case.inputs], case.options, got, which, tolerance
                )
                others = {n: pair for n, *pair in zip(names, got, expected) if n != name}
                like = resembles(difference, dict(zip(_parameters(self.answer), case.inputs)), others)
                lint = seen or ("" if case.launcher else self._precedence())
                cause = known or " ".join(filter(None, (lint, like))) or likely_cause(difference)
                cause = cause or self._apart_by_sizes(case) or apart_by_tiles(case, self.passed, sizes)
                cause = cause or self._in_terms_of_sizes(difference, which)
                values = "" if known or lint or like else apart_by_values(case, self.passed, exponential)
                if values and "-inf" in case.kind:
                    cause = cause.removesuffix(SUBTRACT).strip()
                if not (cause or values or case.launcher):
                    cause = "Call the function on two or three numbers of your own, and print what each line gives."
                raise NotYet(lines(what, "" if known or case.launcher else self._shown(case), cause, values))
            if not self.no_whole_number and (said := _no_whole_number(name or "the result", g, e)):
                self.no_whole_number = self.label, said
            right.append(name)

    def _precedence(self) -> str:
        """A sentence about `&` beside a comparison, in the answer or a function that it calls; else empty."""
        return next(filter(None, (precedence(_source(function)) for function in functions_of(self.answer))), "")

    def _apart_by_sizes(self, case: Case) -> str:
        """What sets the sizes of a wrong case apart, if ordinary values of the sizes that were right are right as well.

        A block that is lost hardly counts where the scores rise, so that rows of some sizes are right by chance.
        """
        said = apart_by_sizes(case, self.passed)
        if not said or case.launcher:
            return said
        sizes = [p.sizes for p in self.passed if p.kind == case.kind]
        ordinary = [c for c in self.cases if c.kind == "normal" and c.sizes in sizes and all(c is not p for p in self.passed)]
        return said if all(self._is_right(c) for c in ordinary) else ""

    def _in_terms_of_sizes(self, difference: Difference, which: int) -> str:
        """What sizes say of a wrong number; that it is upside down only if it is so in every case, as in one it may be chance."""
        said = in_terms_of_sizes(difference)
        return said if "upside down" not in said or self._is_upside_down(which) else ""

    def _is_upside_down(self, which: int) -> bool:
        """Whether 1 / result number `which` is right in every case."""
        other = copy.copy(self)

        @functools.wraps(self.answer)
        def inverted(*arguments, **options):
            results = self.answer(*arguments, **options)
            return tuple(1 / r if i == which else r for i, r in enumerate(results)) if isinstance(results, tuple) else 1 / results

        other.answer = inverted
        return all(other._is_right(case) for case in self.cases)

    def _is_right(self, case: Case) -> bool:
        """Whether an answer is right in a case that is not its turn yet."""
        other = copy.copy(self)
        other.memory, other.passed, other.cases = None, [], [case]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                other.call(case)
        except NotYet:
            return False
        return True

    def _shown(self, case: Case) -> str:
        """The inputs of an answer in NumPy, where they are a few numbers in one array."""
        arrays = [(n, v) for n, v in zip(_parameters(self.answer), case.inputs) if isinstance(v, np.ndarray)]
        if len(arrays) != 1 or arrays[0][1].ndim != 1 or arrays[0][1].size > FEW or arrays[0][1].dtype.kind != "f":
            return ""
        return f"There {arrays[0][0]} = [{', '.join(f'{value:.6g}' for value in arrays[0][1])}]."


def _is_in(name: str, value: Any, line: str) -> bool:
    """Whether a variable is a number that the line names."""
    return isinstance(value, (int, float, np.generic)) and re.search(rf"\b{name}\b", line) is not None


def _tolerance(dtype: str, steps: int, magnitude) -> np.ndarray:
    unit = UNIT_ROUNDOFF.get(str(dtype), UNIT_ROUNDOFF["float64"])
    size = np.abs(np.asarray(magnitude, float))
    size = np.where(np.isfinite(size), size, 0.0)
    smallest = 0.0
    if "float" in str(dtype):  # exp may flush what lies below the normal range to 0, on a GPU too; fp16 keeps it
        smallest = float(np.finfo(dtype).smallest_subnormal if str(dtype) == "float16" else np.finfo(dtype).tiny)
    return SAFETY * unit * np.sqrt(max(1, steps)) * size + smallest


def _no_number(name: str, got: Any, expected: np.ndarray) -> str:
    """What is wrong with a result that should be one number, or True or False, and is neither; else empty."""
    if expected.ndim:
        return ""
    wanted = "True or False" if expected.dtype.kind == "b" else "a number"
    if isinstance(got, (tuple, list)):
        return f"{name} holds {len(got)} values, {got!r}, expected one number: `[0]` would take the first."
    if got is None or isinstance(got, str):
        return f"{name} is {got!r}, expected {wanted}."
    return ""


def _no_whole_number(name: str, got: np.ndarray, expected: np.ndarray) -> str:
    """What is wrong with a float where a whole number is expected; else empty."""
    if expected.ndim or expected.dtype.kind not in "iu" or got.dtype.kind != "f":
        return ""
    return f"{name} is {float(got)}, a float, expected {int(expected)}, a whole number: `//` gives one, and so does `math.ceil`."


def _copied(value):
    return CountedArray(uncounted(value)) if isinstance(value, CountedArray) else copy.deepcopy(value)


def _settled(result):
    """A result as plain arrays and numbers: one that computes when it is looked at does so here, while the answer runs."""
    if isinstance(result, (list, tuple)):
        return type(result)(map(_settled, result)) if type(result) in (list, tuple) else tuple(map(_settled, result))
    if result is None or isinstance(result, (bool, int, float, complex, str, np.generic, CountedArray)):
        return result
    return np.asarray(result)


def _source(function) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return ""


def _as_double(value):
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value.astype(np.float64)
    if isinstance(value, tuple):
        return tuple(_as_double(v) for v in value)
    return copy.deepcopy(value)


def _same(before, after) -> bool:
    if isinstance(after, CountedArray):
        after = uncounted(after)
    if isinstance(before, np.ndarray):
        return before.shape == np.shape(after) and np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
    if isinstance(before, (tuple, list)):
        return len(before) == len(after) and all(_same(b, a) for b, a in zip(before, after))
    return True


def _arrays(values):
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _arrays(value)


def _dtype(case: Case) -> str:
    return next((str(a.dtype) for a in _arrays(case.inputs) if a.dtype.kind == "f"), "float64")


def _parameters(function) -> list[str]:
    return list(inspect.signature(function).parameters)


def _output_names(answer, case: Case) -> list[str]:
    return _parameters(answer)[len(case.inputs) :][: len(case.outputs)]


def _results(result, count: int, names: Sequence[str]) -> list:
    wanted = f"({', '.join(names)})" if names else f"{count} results" if count > 1 else "its result"
    if result is None:
        raise NotYet(f"The function returns nothing: it should end in `return` and give {wanted}.")
    results = list(result) if isinstance(result, tuple) or (count > 1 and isinstance(result, list)) else [result]
    if len(results) != count:
        raise NotYet(f"The function returns {len(results)} value{'s' * (len(results) != 1)}, expected {wanted}.")
    return [uncounted(r) if isinstance(r, CountedArray) else r for r in results]


def _with_constants(label: str, fault) -> str:
    constants = {k: v for k, v in (getattr(fault, "constants", None) or {}).items() if k.isupper() and isinstance(v, int)}
    return ", ".join([label] + [f"{k} = {v}" for k, v in constants.items()])


def _by_line(traffic, known: str = "") -> str:
    """What each line of the kernel moves, for a kernel that moves too much. known: why, if it is known."""
    verb = {"load": "reads", "store": "writes", "atomic": "reads and writes"}
    said = ", ".join(f"line {a.line} {verb[a.kind]} {a.bytes:,} B of {a.argument}" for a in _accesses(traffic))
    return said[:1].upper() + said[1:] + f". {known or 'What could stay in registers?'}"


def _sectors_by_line(traffic, known: str = "") -> str:
    """What each line of the kernel asks for, for a kernel whose lanes lie too far apart. known: why, if it is known."""
    said = ", ".join(f"line {a.line} asks for {a.sectors:,} sectors of {a.argument}" for a in _accesses(traffic))
    return said[:1].upper() + said[1:] + f". {known or 'Do neighbouring lanes take neighbours in memory?'}"


def _accesses(traffic) -> list:
    return [access for line in traffic.by_line.values() for access in line]
