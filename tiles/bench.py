"""GB/s and TFLOP/s: measured where there is a GPU, read from a recorded run elsewhere.

A lesson names the functions that compete and what each of them moves or computes:

    runs = bench.bandwidth("7.1", "add", contestants, shapes=[(2**20,), (2**28,)])
    print(runs.source)
    print(runs)

On a GPU the contestants are timed. Elsewhere they are never called: the runs come from `tiles/recorded/h200.json`,
which `make bench` writes on a GPU with the same cells of the same lesson.
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

RECORDED = Path(__file__).parent / "recorded"
METRICS = {"GB/s": 1e9, "TFLOP/s": 1e12}

Contestants = Callable[..., Mapping[str, tuple[Callable[[], object], float]]]


@dataclass(frozen=True)
class Run:
    """One function, timed at one shape: `ms` a call, and `value` in units of `metric` ("GB/s" or "TFLOP/s")."""

    lesson: str
    exercise: str
    op: str
    shape: tuple[int, ...]
    dtype: str
    provider: str
    ms: float
    metric: str
    value: float


@dataclass(frozen=True)
class Record:
    """Runs of one machine: its device, the versions of torch and triton, the date, and the runs.

    measured: whether they were made here and now; otherwise they come from a file.
    """

    device: str
    torch: str
    triton: str
    date: str
    runs: tuple[Run, ...] = field(default=())
    measured: bool = field(default=False, compare=False)

    @property
    def source(self) -> str:
        """One line that says where the numbers come from."""
        if not self.runs:
            return "No run is recorded for this measurement yet: `make bench` on a machine with a GPU writes one."
        how = "measured here, on" if self.measured else "recorded on"
        return f"{how} {self.device}, torch {self.torch}, Triton {self.triton}, {self.date}"

    def select(self, **wanted: object) -> Record:
        """The runs whose fields equal the wanted ones: `record.select(exercise="7.1", provider="ours")`."""
        chosen = tuple(run for run in self.runs if all(getattr(run, name) == value for name, value in wanted.items()))
        return replace(self, runs=chosen)

    def curve(self, provider: str, axis: int = 0) -> tuple[list[int], list[float]]:
        """Sizes along one axis of the shape, rising, and the provider's values at them: ready to plot."""
        points = sorted((run.shape[axis], run.value) for run in self.select(provider=provider).runs)
        return [size for size, _ in points], [value for _, value in points]

    def value(self, provider: str, shape: Iterable[int]) -> float:
        """The provider's value at one shape. Raises KeyError where it was not run."""
        for run in self.select(provider=provider, shape=tuple(shape)).runs:
            return run.value
        raise KeyError(f"no run of {provider!r} at shape {tuple(shape)}")

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


def has_gpu() -> bool:
    """Whether functions can be timed here: False without a GPU, and without torch or Triton."""
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


def recorded(name: str = "h200") -> Record:
    """The record in `tiles/recorded/NAME.json`; one without runs where there is no such file."""
    path = RECORDED / f"{name}.json"
    if not path.exists():
        return Record(name, "", "", "")
    stored = json.loads(path.read_text(encoding="utf-8"))
    runs = tuple(Run(**{**run, "shape": tuple(run["shape"])}) for run in stored.pop("runs"))
    return Record(**stored, runs=runs)


def save(record: Record, name: str) -> Path:
    """Writes a record to `tiles/recorded/NAME.json`, whole or not at all. Returns the path."""
    path = RECORDED / f"{name}.json"
    runs = [json.dumps({**asdict(run), "shape": list(run.shape)}) for run in record.runs]
    head = json.dumps({k: v for k, v in asdict(record).items() if k not in ("runs", "measured")}, indent=1)
    text = head.removesuffix("\n}") + ',\n "runs": [\n  ' + ",\n  ".join(runs) + "\n ]\n}\n"
    path.parent.mkdir(exist_ok=True)
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


def time_in_turns(functions: Mapping[str, Callable[[], object]], rounds: int = 3) -> dict[str, float]:
    """Milliseconds a call for each function: A B A B, so that a clock that drifts meets all of them.

    Each turn is the median that `triton.testing.do_bench` finds, with the L2 cache flushed before every call;
    the result is the median over the turns.
    """
    from triton.testing import do_bench

    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            times[name].append(do_bench(function, return_mode="median"))
    return {name: statistics.median(turns) for name, turns in times.items()}


def _compare(metric: str, exercise: str, op: str, contestants: Contestants, shapes, dtype: str, rounds: int) -> Record:
    if not has_gpu():
        return recorded().select(exercise=exercise, op=op, dtype=dtype, metric=metric)
    lesson = exercise.partition(".")[0].zfill(2)
    runs = []
    for shape in map(tuple, shapes):
        entrants = contestants(*shape)
        times = time_in_turns({name: function for name, (function, _) in entrants.items()}, rounds)
        for name, (_, work) in entrants.items():
            value = work / (times[name] * 1e-3) / METRICS[metric]
            run = Run(lesson, exercise, op, shape, dtype, name, round(times[name], 6), metric, round(value, 2))
            runs.append(run)
        del entrants
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
) -> Record:
    """GB/s of functions that compete, at each shape.

    exercise: "7.1". op: a name, "add". dtype: of the inputs, for the record.
    contestants: called with the sizes of a shape; returns {provider: (function without arguments, bytes that it moves)}.
    On a GPU the functions are timed in turns; elsewhere the recorded runs of that exercise, op and dtype are returned.
    """
    return _compare("GB/s", exercise, op, contestants, shapes, dtype, rounds)


def throughput(
    exercise: str,
    op: str,
    contestants: Contestants,
    *,
    shapes: Iterable[tuple[int, ...]],
    dtype: str = "float16",
    rounds: int = 3,
) -> Record:
    """TFLOP/s of functions that compete: as `bandwidth`, with floating-point operations in the place of bytes."""
    return _compare("TFLOP/s", exercise, op, contestants, shapes, dtype, rounds)
