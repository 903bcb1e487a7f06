"""GB/s and TFLOP/s: measured where there is a GPU, read from a recorded run elsewhere.

A lesson names the functions that compete and what each of them moves or computes:

    runs = bench.bandwidth("7.1", "add", contestants, shapes=[(2**20,), (2**28,)])
    print(runs.source)
    print(runs)
    print(runs.ratios("ours", "torch.add"))

On a GPU the contestants are compared, and then timed in turns. Elsewhere they are never called: the runs come from `tiles/recorded/h200.json`,
which `make bench` writes on a GPU with the same cells of the same lesson. TILES_MEASURE=0 shows them on a GPU too: for tests
of the lessons, which compare no times.
"""

from __future__ import annotations

import datetime
import json
import os
import statistics
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded"
METRICS = {"GB/s": 1e9, "TFLOP/s": 1e12}  # of what a function works, in a second

TOLERANCE = {
    "float32": 2e-3,
    "float16": 1e-2,
    "bfloat16": 3e-2,
}  # of contestants: norm of the difference / norm; fp32 may be TF32

Contestants = Callable[..., Mapping[str, tuple]]


@dataclass(frozen=True)
class Run:
    """One function, timed at one shape: `ms` a call, and `value` in units of `metric` ("GB/s" or "TFLOP/s").

    turns: the ms of each turn, of which `ms` is the median. Where memory is measured, `metric` is "MB" and `ms` 0.
    """

    lesson: str
    exercise: str
    op: str
    shape: tuple[int, ...]
    dtype: str
    provider: str
    ms: float
    metric: str
    value: float
    turns: tuple[float, ...] = ()


@dataclass(frozen=True)
class Text:
    """What a tool wrote on a GPU: a kernel of Inductor's, a profiler's table. name: what it is, for `text`."""

    lesson: str
    exercise: str
    name: str
    text: str


@dataclass(frozen=True)
class Record:
    """Runs of one machine: its device, the versions of torch and triton, the date, and the runs.

    texts: what tools wrote there. measured: whether they were made here and now; otherwise they come from a file.
    """

    device: str
    torch: str
    triton: str
    date: str
    runs: tuple[Run, ...] = field(default=())
    texts: tuple[Text, ...] = field(default=())
    measured: bool = field(default=False, compare=False)

    @property
    def source(self) -> str:
        """One line that says where the numbers come from."""
        if not (self.runs or self.texts):
            return "No run is recorded for this measurement yet: `make bench` on a machine with a GPU writes one."
        how = "measured here, on" if self.measured else "recorded on"
        return f"{how} {self.device}, torch {self.torch}, Triton {self.triton}, {self.date}"

    def select(self, **wanted: object) -> Record:
        """The runs whose fields equal the wanted ones: `record.select(exercise="7.1", provider="ours")`."""
        chosen = tuple(run for run in self.runs if all(getattr(run, name) == value for name, value in wanted.items()))
        return replace(self, runs=chosen, texts=())

    def curve(self, provider: str, axis: int = 0) -> tuple[list[int], list[float]]:
        """Sizes along one axis of the shape, rising, and the provider's values at them: ready to plot."""
        points = sorted((run.shape[axis], run.value) for run in self.select(provider=provider).runs)
        return [size for size, _ in points], [value for _, value in points]

    def value(self, provider: str, shape: Iterable[int]) -> float:
        """The provider's value at one shape. Raises KeyError where it was not run."""
        for run in self.select(provider=provider, shape=tuple(shape)).runs:
            return run.value
        raise KeyError(f"no run of {provider!r} at shape {tuple(shape)}")

    def ratio(self, provider: str, peer: str, shape: Iterable[int]) -> float:
        """How many times as fast as the peer the provider is at one shape: the median of the ratios of each turn.

        Raises KeyError where one of them was not run.
        """
        shape = tuple(shape)
        pair = [next(iter(self.select(provider=name, shape=shape).runs), None) for name in (provider, peer)]
        if None in pair:
            raise KeyError(f"no run of {provider!r} and {peer!r} at shape {shape}")
        ours, theirs = (run.turns or (run.ms,) for run in pair)
        return statistics.median(b / a for a, b in zip(ours, theirs))

    def ratios(self, provider: str, peer: str) -> dict[tuple[int, ...], float]:
        """`ratio` at each shape at which both were run, two digits after the point."""
        both = [run.shape for run in self.select(provider=provider).runs if self.select(provider=peer, shape=run.shape).runs]
        return {shape: round(self.ratio(provider, peer, shape), 2) for shape in both}

    def __str__(self) -> str:
        """A table: a line for each shape, a column for each provider."""
        if not self.runs:
            return ""
        providers = list(dict.fromkeys(run.provider for run in self.runs))
        values = {(run.shape, run.provider): run.value for run in self.runs}
        shapes = list(dict.fromkeys(run.shape for run in self.runs))
        table = [[self.runs[0].metric, *providers]]
        for shape in shapes:
            cells = [f"{values[shape, name]:,.0f}" if (shape, name) in values else "-" for name in providers]
            table.append([" x ".join(f"{size:,}" for size in shape), *cells])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in table)


measured: list[Run] = []
"""Every run measured in this process, in order."""

written: list[Text] = []
"""Every text that a tool wrote in this process, in order."""


def has_gpu() -> bool:
    """Whether functions are timed here: False without a GPU, without torch or Triton, and where TILES_MEASURE is 0."""
    if os.environ.get("TILES_MEASURE") == "0":
        return False
    try:
        import torch
        import triton  # noqa: F401, for its timer
    except ImportError:
        return False
    return torch.cuda.is_available()


def this_machine(runs: Iterable[Run] = ()) -> Record:
    """A record of runs measured here, today. Raises RuntimeError without a GPU."""
    if not has_gpu():
        raise RuntimeError("There is no GPU here to measure on. The lessons show the recorded runs instead.")
    import torch
    import triton

    today = datetime.date.today().isoformat()
    return Record(torch.cuda.get_device_name(), torch.__version__, triton.__version__, today, tuple(runs), measured=True)


def recorded(name: str = "h200", folder: Path | None = None) -> Record:
    """The record in `tiles/recorded/NAME.json`, or in another folder; one without runs where there is no such file."""
    path = (folder or RECORDED) / f"{name}.json"
    if not path.exists():
        return Record(name, "", "", "")
    stored = json.loads(path.read_text(encoding="utf-8"))
    runs = tuple(Run(**{**run, "shape": tuple(run["shape"]), "turns": tuple(run.get("turns", ()))}) for run in stored.pop("runs"))
    texts = tuple(Text(**text) for text in stored.pop("texts", ()))
    return Record(**stored, runs=runs, texts=texts)


def save(record: Record, name: str, folder: Path | None = None) -> Path:
    """Writes a record to `tiles/recorded/NAME.json`, or into another folder, whole or not at all. Returns the path."""
    path = (folder or RECORDED) / f"{name}.json"
    head = json.dumps({k: v for k, v in asdict(record).items() if k not in ("runs", "texts", "measured")}, indent=1)
    text = (
        head.removesuffix("\n}")
        + "".join(f',\n "{name}": {_lines(getattr(record, name))}' for name in ("runs", "texts"))
        + "\n}\n"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


only: set[str] | None = None
"""The exercises that are measured, None for all: for the others the recorded runs are shown."""


def _measures(exercise: str) -> bool:
    return has_gpu() and (only is None or exercise in only)


def _lines(entries: Iterable[Run | Text]) -> str:
    """A JSON list with a line for each entry."""
    lines = ",\n  ".join(json.dumps(asdict(entry), ensure_ascii=False) for entry in entries)
    return f"[\n  {lines}\n ]" if lines else "[]"


def time_in_turns(functions: Mapping[str, Callable[[], object]], rounds: int = 3) -> dict[str, list[float]]:
    """Milliseconds a call, turn by turn: A B B A, so that a clock that drifts meets all of them.

    A chip near its power limit is slower after a hot neighbour, so every other turn goes backwards: each has both neighbours.
    Each turn is the median that `triton.testing.do_bench` finds, with the L2 cache flushed before every call.
    """
    from triton.testing import do_bench

    turns: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(rounds):
        for name in reversed(list(functions)) if turn % 2 else functions:
            turns[name].append(round(do_bench(functions[name], return_mode="median"), 6))
    return turns


def _replayed(function: Callable[[], object]) -> Callable[[], object]:
    """The function's launches, captured once in a CUDA graph: a call launches them all with hardly any work on the CPU."""
    import torch

    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):  # what a first call compiles, tunes or allocates cannot be captured
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph.replay


def _refuse_unlike(entrants: Mapping[str, tuple], against: str, dtype: str) -> None:
    """Raise ValueError where the tensors that a contestant fills differ from what `against` returns."""
    expected = _tuple(entrants[against][0]())
    for name, (function, _, *filled) in entrants.items():
        results = _tuple(filled[0]) if filled else ()
        for result in results:
            result.fill_(float("nan"))  # what is not written counts as wrong
        if results:
            function()
        for result, right in zip(results, expected):
            error = float((result.double() - right.double()).norm() / right.double().norm())
            if not error <= TOLERANCE[dtype]:
                raise ValueError(f"{name} is not timed: its result differs from that of {against} by {error:.1e} of the norm.")


def _tuple(results: Any) -> tuple:
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def _compare(
    metric: str, exercise: str, op: str, contestants: Contestants, shapes, dtype: str, rounds: int, against: str, graph: bool
) -> Record:
    if not _measures(exercise):
        return recorded().select(exercise=exercise, op=op, dtype=dtype, metric=metric)
    lesson = exercise.partition(".")[0].zfill(2)
    runs = []
    for shape in map(tuple, shapes):
        entrants = contestants(*shape)
        if against:
            _refuse_unlike(entrants, against, dtype)
        functions = {name: _replayed(function) if graph else function for name, (function, *_) in entrants.items()}
        turns = time_in_turns(functions, rounds)
        for name, (_, work, *_) in entrants.items():
            ms = statistics.median(turns[name])
            value = round(work / (ms * 1e-3) / METRICS[metric], 2)
            runs.append(Run(lesson, exercise, op, shape, dtype, name, ms, metric, value, tuple(turns[name])))
        del entrants, functions
    measured.extend(runs)
    return this_machine(runs)


def bandwidth(
    exercise: str,
    op: str,
    contestants: Contestants,
    *,
    shapes: Iterable[tuple[int, ...]],
    dtype: str = "float32",
    rounds: int = 3,
    against: str = "",
    graph: bool = False,
) -> Record:
    """GB/s of functions that compete, at each shape.

    exercise: "7.1". op: a name, "add". dtype: of the inputs, for the record.
    contestants: called with the sizes of a shape; returns {provider: (function without arguments, bytes that it moves)}, where
        a third member may be the tensor, or the tuple of tensors, that the function fills.
    against: the provider that returns the right result; each tensor that is filled is compared with it before anything is
        timed, and ValueError is raised where it differs by more than TOLERANCE of the norm.
    graph: replay each function from a CUDA graph, so that what its launches cost on the CPU does not count.
    On a GPU the functions are timed in turns; elsewhere the recorded runs of that exercise, op and dtype are returned.
    """
    return _compare("GB/s", exercise, op, contestants, shapes, dtype, rounds, against, graph)


def throughput(
    exercise: str,
    op: str,
    contestants: Contestants,
    *,
    shapes: Iterable[tuple[int, ...]],
    dtype: str = "float16",
    rounds: int = 3,
    against: str = "",
    graph: bool = False,
) -> Record:
    """TFLOP/s of functions that compete: as `bandwidth`, with floating-point operations in the place of bytes."""
    return _compare("TFLOP/s", exercise, op, contestants, shapes, dtype, rounds, against, graph)


def peak_memory(
    exercise: str, op: str, contestants: Contestants, *, shapes: Iterable[tuple[int, ...]], dtype: str = "float16"
) -> Record:
    """MB (10^6 bytes) that a call of each function takes at most, beside what stood in memory before it.

    contestants: as for `bandwidth`; what they move does not matter here. The second call is measured, so that what a first
    call keeps does not count. Elsewhere than on a GPU the recorded runs are returned.
    """
    if not _measures(exercise):
        return recorded().select(exercise=exercise, op=op, dtype=dtype, metric="MB")
    import torch

    lesson = exercise.partition(".")[0].zfill(2)
    runs = []
    for shape in map(tuple, shapes):
        for name, (function, *_) in contestants(*shape).items():
            function()
            torch.cuda.synchronize()
            before = torch.cuda.memory_allocated()
            torch.cuda.reset_peak_memory_stats()
            function()
            torch.cuda.synchronize()
            most = (torch.cuda.max_memory_allocated() - before) / 1e6
            runs.append(Run(lesson, exercise, op, shape, dtype, name, 0.0, "MB", round(most, 2)))
    measured.extend(runs)
    return this_machine(runs)


class Missing(RuntimeError):
    """A tool is not installed on this machine, or may not do its work there; the message says which, and why."""


def text(exercise: str, name: str, make: Callable[[], str]) -> Record:
    """What a tool writes on a GPU, as a record with one text: `make()` where there is a GPU, what is recorded elsewhere.

    exercise: "11.4". name: what it is, "softmax by Inductor". The record has no text where none is recorded.
    Where `make` raises Missing, its message is printed, and what is recorded is returned.
    """
    if _measures(exercise):
        try:
            new = Text(exercise.partition(".")[0].zfill(2), exercise, name, make())
        except Missing as missing:
            print(missing)
        else:
            written.append(new)
            return replace(this_machine(), texts=(new,))
    found = tuple(t for t in recorded().texts if (t.exercise, t.name) == (exercise, name))
    return replace(recorded(), runs=(), texts=found)
