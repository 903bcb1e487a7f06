"""What the pages of the book take from the recorded runs: figures, tables, single numbers.

A page in `book/` holds no measured number. Where one belongs it says `{{ … }}`, in the language of Jinja, and the build
fills in what `tiles/recorded` holds on that day:

    {{ source }}                                           device, versions, date
    {{ ratio("8.1", "softmax", "ours", "torch") }}         "1.04 to 3.12": smallest and largest over the recorded shapes
    {{ value("8.2", "softmax_long", "one tile", 4096, 131072) | n }}   without digits after the point; n(2): with two
    {{ figure("roofline") }}                               a figure, for the light and the dark theme; of several names, side by side
    {{ ratios("bandwidth") }}                              the table that belongs to the figure of that name

`KERNELS` says which provider of which measurement is the course's kernel, and what it computes for each byte. A measurement
that is not listed, and has a provider "ours", is shown as well, but not on the roofline.
"""

from __future__ import annotations

import ast
import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from classroom.lesson import NOTEBOOKS, dashed, find_root
from tiles import bench
from tiles.gpus import GPUS

FIGURES = "_static/recorded"  # in the book's folder
ITEMSIZE = {"float32": 4, "float16": 2, "bfloat16": 2}
SHORT = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
AT_MOST = 6  # shapes of one measurement in a figure; of a longer curve, the largest

Intensity = Callable[[tuple[int, ...], int], float]


# ---- who competes


@dataclass(frozen=True)
class Kernel:
    """A kernel of the course: the measurement that times it, its provider there, and its title in a table.

    intensity: FLOPs for each byte that it must move, from the shape and the bytes of an element; None: not on the roofline.
    written: the exercise in which it is written, where the measurement is named after another one.
    """

    exercise: str
    op: str
    ours: str
    title: str
    intensity: Intensity | None = None
    written: str = ""


def each(flops: float, arrays: float) -> Intensity:
    """So many FLOPs for each element, as lesson 04 counts them, and so many arrays read or written once."""
    return lambda shape, itemsize: flops / (arrays * itemsize)


def product(shape: tuple[int, ...], itemsize: int) -> float:
    """A matrix product of M x N x K, each matrix moved once."""
    M, N, K = shape
    return 2 * M * N * K / (itemsize * (M * K + K * N + M * N))


def weights(bytes_each: float) -> Intensity:
    """A product of M rows with weights of so many bytes each, which set the traffic."""
    return lambda shape, itemsize: 2 * shape[0] / bytes_each


def attention(products: int, arrays: int, causal: bool = False) -> Intensity:
    """So many products with a matrix of scores, and so many arrays of T x d moved once."""
    return lambda shape, itemsize: products * 2 * shape[0] / (arrays * itemsize) / (2 if causal else 1)


KERNELS = [
    Kernel("2.6", "matrix copy", "by rows", "copy of a matrix"),
    Kernel("4.6", "scale_shift_relu", "fused", "scale, shift, ReLU", each(3, 2)),
    Kernel("4.6", "matmul", "tile 128", "matmul of lesson 04", product),
    Kernel("7.1", "add", "ours", "vector add", each(1, 3)),
    Kernel("7.3", "multiply_add_relu", "fused", "multiply, add, ReLU", each(3, 4)),
    Kernel("8.1", "softmax", "ours", "softmax", each(5, 2)),
    Kernel("8.2", "softmax_long", "ours", "softmax, long rows", each(5, 2)),
    Kernel("8.3", "softmax_backward", "ours", "softmax, backward", each(4, 3)),
    Kernel("8.4a", "rmsnorm", "ours", "RMSNorm", each(4, 2)),
    Kernel("8.4b", "rmsnorm backward", "ours", "RMSNorm, backward", each(9, 3)),
    Kernel("8.5a", "layernorm", "ours", "LayerNorm", each(7, 2)),
    Kernel("8.6a", "swiglu", "ours", "SwiGLU", each(5, 3)),
    Kernel("8.6b", "swiglu backward", "ours", "SwiGLU, backward", each(12, 5)),
    Kernel("8.8", "softmax_relay", "ours", "softmax, a row shared", each(5, 2)),
    Kernel("9.3", "matmul", "grouped", "matmul, pointers", product, "9.3c"),
    Kernel("9.7", "matmul", "persistent", "matmul, persistent", product, "9.7b"),
    Kernel("9.7", "layer", "statistics first", "LayerNorm, linear, GELU", product, "9.5d"),
    Kernel("9.7", "layer", "statistics first, TMA", "LayerNorm, linear, GELU (TMA)", product, "9.7c"),
    Kernel("9.8", "lora", "exercise 9.8b", "LoRA", product, "9.8b"),
    Kernel("9.9", "quantised", "8 bits", "matmul, weights of 8 bits", weights(1), "9.9a"),
    Kernel("9.9", "quantised", "4 bits", "matmul, weights of 4 bits", weights(0.5), "9.9b"),
    Kernel("10.3", "attention, full", "descriptors", "attention", attention(2, 4), "10.3d"),
    Kernel("10.3", "attention, causal", "descriptors", "causal attention", attention(2, 4, True), "10.3d"),
    Kernel("10.5c", "backward, full", "ours", "attention, backward", attention(5, 8)),
    Kernel("10.5c", "backward, causal", "ours", "causal attention, backward", attention(5, 8, True)),
    Kernel("10.5c", "forward and backward, full", "ours", "attention, both ways", attention(7, 12)),
    Kernel("10.5c", "forward and backward, causal", "ours", "causal attention, both ways", attention(7, 12, True)),
    Kernel("10.7b", "decode", "16 splits", "one query, long cache", each(2, 1)),
    Kernel("11.5b", "block step", "ours", "step of a block, eager"),
    Kernel("11.5b", "block step", "compile, our attention", "step of a block, compiled"),
    Kernel("12.5", "softmax of T x T scores", "T / 512 warps", "softmax, warps by length", each(5, 2)),
    Kernel("13.7b", "cross-entropy", "ours", "cross-entropy and its gradient", each(6, 2)),
]  # fmt: skip

LIBRARIES = ("torch", "eager", "Liger", "cuBLAS", "SDPA")  # how the names of the libraries' kernels begin
CEILINGS = ("copy", "product alone", "x w alone")  # the part of the work that nobody can leave out
SEPARATE = ("unfused", "three operations", "three torch operations")  # several kernels in the place of one
WIDER = ("float16, torch",)  # a library's product with weights of more bytes than ours


def role(provider: str) -> str:
    """ "library", "ceiling", "separate" (operations), "wider" (weights), or "" for another version of our own kernel."""
    for name, providers in (("ceiling", CEILINGS), ("separate", SEPARATE), ("wider", WIDER)):
        if provider in providers:
            return name
    return "library" if provider.startswith(LIBRARIES) else ""


@dataclass(frozen=True)
class Row:
    """One kernel at one shape: its own run, and the record of all who were timed with it at that shape."""

    kernel: Kernel
    run: bench.Run
    record: bench.Record

    @property
    def shape(self) -> str:
        return " × ".join(f"{size:,}" for size in self.run.shape)

    def peers(self, *roles: str) -> list[bench.Run]:
        return [other for other in self.record.runs if role(other.provider) in roles and other.provider != self.run.provider]

    def ratio(self, peer: bench.Run) -> float:
        """How many times as fast as the peer: the median of the ratios of each turn."""
        return self.record.ratio(self.run.provider, peer.provider, self.run.shape)

    @property
    def limit(self) -> float:
        """What the data sheet allows, in units of the run's metric."""
        gpu = gpu_of(self.record)
        rate = {"GB/s": gpu.bandwidth, "TFLOP/s": gpu.fp32 if self.run.dtype == "float32" else gpu.fp16}
        return rate[self.run.metric] / bench.METRICS[self.run.metric]

    @property
    def point(self) -> tuple[float, float] | None:
        """FLOPs a byte and TFLOP/s: the place on the roofline."""
        if self.kernel.intensity is None:
            return None
        intensity = self.kernel.intensity(self.run.shape, ITEMSIZE[self.run.dtype])
        return intensity, self.run.value * (intensity / 1e3 if self.run.metric == "GB/s" else 1)


def gpu_of(record: bench.Record):
    return GPUS[record.device.removeprefix("NVIDIA ")]


def rows(record: bench.Record) -> list[Row]:
    """Every kernel of the course at every shape at which it was timed beside others, in the order of the lessons."""
    found = []
    for kernel in [*KERNELS, *unlisted(record)]:
        timed = record.select(exercise=kernel.exercise, op=kernel.op)
        for run in timed.select(provider=kernel.ours).runs:
            others = timed.select(shape=run.shape, dtype=run.dtype, metric=run.metric)
            if run.metric in bench.METRICS and len(others.runs) > 1:
                found.append(Row(kernel, run, others))
    place = {exercise: i for i, exercise in enumerate(dict.fromkeys(run.exercise for run in record.runs))}
    return sorted(found, key=lambda row: place[row.run.exercise])


def unlisted(record: bench.Record) -> Iterator[Kernel]:
    known = {(kernel.exercise, kernel.op) for kernel in KERNELS}
    for exercise, op in dict.fromkeys((run.exercise, run.op) for run in record.runs if run.provider == "ours"):
        if (exercise, op) not in known:
            yield Kernel(exercise, op, "ours", op.replace("_", " "))


def for_figures(found: list[Row]) -> list[Row]:
    """The rows without the small sizes of long curves."""
    count = {}
    for row in found:
        count.setdefault((row.kernel, row.run.dtype), []).append(row)
    return [row for same in count.values() for row in (same if len(same) <= AT_MOST else same[-1:])]


CHOSEN = {
    "bandwidth": lambda row: row.run.metric == "GB/s",
    "products": lambda row: row.run.metric == "TFLOP/s" and row.run.lesson != "10",
    "attention": lambda row: row.run.metric == "TFLOP/s" and row.run.lesson == "10",
}
"""Which rows belong to which figure and table."""


# ---- tables and numbers


LEVEL = (0.97, 1.03)  # between these ratios two kernels are called level
NO_BREAK = "\N{NO-BREAK SPACE}"


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def anchor(exercise: str) -> str:
    """The address of an exercise in the book: "5.3" is at `#ex-5-3`."""
    return dashed("ex", exercise)


def link(kernel: Kernel) -> str:
    """The kernel's title, linked to its exercise; without a link where its lesson is not there."""
    exercise = kernel.written or kernel.exercise
    for notebook in (find_root() / NOTEBOOKS).glob(f"{exercise.partition('.')[0].zfill(2)}_*.ipynb"):
        if f'"{dashed("exercise", exercise)}"' in notebook.read_text(encoding="utf-8"):
            return f"[{kernel.title}](#{anchor(exercise)})"
    return kernel.title


def share_of_copy(row: Row, record: bench.Record) -> float | None:
    """Speed as a share of a copy's in the same measurement, or else of the fastest copy of the record."""
    copies = [run for run in row.peers("ceiling") if run.metric == "GB/s"]
    copies = copies or [run for run in record.runs if run.provider == "copy" and run.metric == "GB/s"]
    return row.run.value / max(run.value for run in copies) if row.run.metric == "GB/s" and copies else None


def speed(row: Row, record: bench.Record) -> str:
    share = share_of_copy(row, record)
    shares = [percent(row.run.value / row.limit), *([percent(share)] if share is not None else [])]
    return f"{row.run.value:,.0f} {row.run.metric}<br>{', '.join(shares)}"


def against(row: Row) -> str:
    shown = []
    for peer in row.peers("separate", "wider", "library", "ceiling"):
        if peer.provider != "copy":
            ratio = row.ratio(peer)
            bold = "**" if ratio < LEVEL[0] and role(peer.provider) == "library" else ""
            shown.append(f"{peer.provider}{NO_BREAK}{bold}{ratio:.2f}{bold}")
    return "<br>".join(shown) or "–"


def table_of_ratios(record: bench.Record, name: str) -> str:
    """A Markdown table: a line for each kernel and shape of the figure of that name, in the order of the lessons."""
    found, number = for_figures(rows(record)), numbers(rows(record))
    shares = "in % of the limit, of a copy" if name == "bandwidth" else "in % of the limit"
    lines = [f"| | kernel | its speed<br>{shares} | ours is … times as fast as |", "|---|---|---|---|"]
    for row in found:
        if CHOSEN[name](row):
            kernel = f"{link(row.kernel)}<br>{row.shape}, {SHORT[row.run.dtype]}"
            lines.append(f"| {number[row.kernel]} | {kernel} | {speed(row, record)} | {against(row)} |")
    return "\n".join(lines)


def numbers(found: list[Row]) -> dict[Kernel, int]:
    return {kernel: i for i, kernel in enumerate(dict.fromkeys(row.kernel for row in found), 1)}


def beside_fastest(record: bench.Record) -> list[tuple[float, Row, bench.Run]]:
    """Each kernel at each shape with the fastest library timed there, the slowest of ours first."""
    found = []
    for row in rows(record):
        if peers := row.peers("library"):
            fastest = min(peers, key=row.ratio)
            found.append((row.ratio(fastest), row, fastest))
    return sorted(found, key=lambda case: case[0])


def table_of_losses(record: bench.Record) -> str:
    """Where a library is faster by more than a few per cent, the widest gap first."""
    lines = ["| kernel | shape | faster | ours, of its speed |", "|---|---|---|---|"]
    for ratio, row, peer in beside_fastest(record):
        if ratio < LEVEL[0]:
            lines.append(f"| {link(row.kernel)} | {row.shape}, {SHORT[row.run.dtype]} | {peer.provider} | {percent(ratio)} |")
    return "\n".join(lines)


def tally(record: bench.Record) -> str:
    ratios = [ratio for ratio, _, _ in beside_fastest(record)]
    won, lost = sum(ratio > LEVEL[1] for ratio in ratios), sum(ratio < LEVEL[0] for ratio in ratios)
    return (
        f"A case is a kernel of the course at one shape, beside the fastest library timed there. Of {len(ratios)} cases, "
        f"ours is faster in {won}, level (within {percent(LEVEL[1] - 1)}) in {len(ratios) - won - lost}, and slower in {lost}."
    )


def timed_with(keyword: str) -> list[str]:
    """The exercises, in the order of the lessons, whose measurement is called with that keyword: "graph", "against"."""
    found = {}
    for path in sorted((find_root() / NOTEBOOKS).glob("[!.]*.ipynb")):
        sources = ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
        for source in sources:
            for call in ast.walk(ast.parse(source)) if "bench." in source and f"{keyword}=" in source else ():
                if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("bench."):
                    if any(given.arg == keyword and ast.literal_eval(given.value) for given in call.keywords):
                        found[ast.literal_eval(call.args[0])] = None
    return list(found)


def spread(record: bench.Record) -> str:
    """How far the turns of one contestant lie apart, as a share of its time."""
    spreads = sorted((max(run.turns) - min(run.turns)) / run.ms for run in record.runs if len(run.turns) > 1)
    if not spreads:
        return "These runs were recorded without their turns."
    middle, most = statistics.median(spreads), spreads[int(0.9 * (len(spreads) - 1))]
    return (
        f"The turns of one contestant lie {percent(middle, 1)} of its time apart at the median, "
        f"and less than {percent(most, 1)} in nine cases of ten."
    )


def table_of_memory(record: bench.Record) -> str:
    """Memory beside inputs and outputs, in MB."""
    lines = ["| | shape | ours | others |", "|---|---|---|---|"]
    for run in record.select(metric="MB", provider="ours").runs:
        same = record.select(metric="MB", exercise=run.exercise, op=run.op, shape=run.shape).runs
        others = "<br>".join(f"{other.provider} {other.value:,.0f} MB" for other in same if other != run)
        kernel = Kernel(run.exercise, run.op, "ours", run.op)
        lines.append(f"| {link(kernel)} | {' × '.join(f'{n:,}' for n in run.shape)} | {run.value:,.0f} MB | {others} |")
    return "\n".join(lines)


def value(record: bench.Record, exercise: str, op: str, provider: str, *shape: int) -> float:
    """One recorded value. Raises KeyError where there is none."""
    return record.select(exercise=exercise, op=op).value(provider, shape)


def all_ratios(record: bench.Record, exercise: str, op: str, provider: str, peer: str) -> list[float]:
    """The ratios of two providers at every shape, rising. Raises KeyError where they never met."""
    found = []
    for dtype in dict.fromkeys(run.dtype for run in record.runs):
        timed = record.select(exercise=exercise, op=op, dtype=dtype)
        found += timed.ratios(provider, peer).values()
    if not found:
        raise KeyError(f"no run of {provider!r} beside {peer!r} in exercise {exercise}, {op!r}")
    return sorted(found)


def ratio_text(record: bench.Record, *names: str) -> str:
    """ "1.04 to 3.12", or "1.50" where the two met at one shape only."""
    found = all_ratios(record, *names)
    return f"{found[0]:.2f}" if found[0] == found[-1] else f"{found[0]:.2f} to {found[-1]:.2f}"


def level_text(record: bench.Record, *names: str) -> str:
    """ "3 of 4": the shapes at which two providers are level."""
    found = all_ratios(record, *names)
    return f"{sum(LEVEL[0] <= ratio <= LEVEL[1] for ratio in found)} of {len(found)}"


def shares_text(record: bench.Record, name: str, peer: str) -> str:
    """ "79 to 99 %": what the kernels of a figure reach of a peer's speed, from the lowest to the highest."""
    chosen = [row for row in for_figures(rows(record)) if CHOSEN[name](row)]
    found = [row.ratio(other) for row in chosen for other in row.peers("library") if other.provider == peer]
    return f"{100 * min(found):.0f} to {percent(max(found))}"


def lines_text(record: bench.Record, op: str) -> str:
    """ "30 and 31": the lines of the tables that belong to one measurement."""
    return " and ".join(str(number) for kernel, number in numbers(rows(record)).items() if kernel.op == op)


# ---- pages


def fill(text: str, folder: Path, record: bench.Record | None = None) -> str:
    """A page's source with each `{{ … }}` filled in; figures are drawn into the folder. Raises KeyError for a run that is missing."""
    from jinja2 import Environment, StrictUndefined

    from classroom.drawings import figure

    record = record or bench.recorded()
    names = {
        "source": record.source,
        "device": record.device,
        "gpu": gpu_of(record),
        "replayed": ", ".join(timed_with("graph")),
        "ratios": partial(table_of_ratios, record),
        "losses": table_of_losses(record),
        "memory": table_of_memory(record),
        "tally": tally(record),
        "spread": spread(record),
        "figure": partial(figure, record, folder),
        "value": partial(value, record),
        "ratio": partial(ratio_text, record),
        "level": partial(level_text, record),
        "shares": partial(shares_text, record),
        "lines": partial(lines_text, record),
    }
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters["n"] = lambda number, digits=0: f"{number:,.{digits}f}"
    return environment.from_string(text).render(names)
