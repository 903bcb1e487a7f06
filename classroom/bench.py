"""`python -m classroom.bench`: run the measurements of the lessons on a GPU and record them.

`python -m classroom.bench 09` measures one lesson, `python -m classroom.bench 9.3 9.7` two exercises; all others keep their
recorded runs.

`python -m classroom.bench --out _build/bench` writes a record of its own; `--compare tiles/recorded _build/bench` then says
where a ratio of ours to a peer has fallen by more than 10 %, and what the new record lacks, and fails if there is any.

A lesson's cells tagged `gpu` call `tiles.bench` with the kernels that the lesson defines. This runs the cells of the
solved lesson in order, checks left out, and keeps what `tiles.bench` measured: no kernel and no list of measurements
stands anywhere else.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import linecache
import signal
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import nbformat

from classroom.lesson import LessonError, find_root, lesson_paths
from classroom.recorded import role
from tiles import bench

MOST_LOST = 0.10  # of a ratio, before a comparison fails


def lessons(names: Sequence[str] = (), root: Path | None = None) -> list[Path]:
    """The solved lessons of these names ("07", "07_vector_add"; all without one) that have something to measure.

    Raises LessonError for a name that no lesson has.
    """
    paths = lesson_paths(find_root(root), list(names))
    return [path for path in paths if any("gpu" in tags for tags, _ in _code_cells(path))]


def _code_cells(path: Path) -> Iterator[tuple[list[str], str]]:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            yield cell.metadata.get("tags", []), cell.source


def run_lesson(path: Path) -> list[str]:
    """Runs the cells of a solved lesson, checks left out. Returns the error of each measuring cell that failed."""
    import matplotlib

    matplotlib.use("Agg")
    failed: list[str] = []
    namespace: dict[str, object] = {"__name__": f"lesson_{path.stem}"}
    for number, (tags, source) in enumerate(_code_cells(path)):
        if any(tag.startswith(("check-", "hidden-check-")) for tag in tags):
            continue
        name = f"<{path.stem}, code cell {number}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)  # the compiler reads sources
        with contextlib.nullcontext() if "gpu" in tags else contextlib.redirect_stdout(io.StringIO()):
            try:
                exec(compile(source, name, "exec"), namespace)
            except Exception:
                if "gpu" not in tags:
                    raise
                failed.append(f"{name}:\n{traceback.format_exc()}")
    return failed


def file_name(device: str) -> str:
    """The record's name for a device: "NVIDIA H200" -> "h200"."""
    return "-".join(device.removeprefix("NVIDIA ").lower().split())


def merge(old: bench.Record, new: bench.Record) -> bench.Record:
    """The new record, with those old runs and texts that it did not measure again: an op of an exercise is replaced whole.

    Raises ValueError where old runs would be kept under versions that they were not measured with.
    """
    measured, written = {(run.exercise, run.op) for run in new.runs}, {(text.exercise, text.name) for text in new.texts}
    runs = [run for run in old.runs if (run.exercise, run.op) not in measured]
    texts = [text for text in old.texts if (text.exercise, text.name) not in written]
    if (runs or texts) and (old.device, old.torch, old.triton) != (new.device, new.torch, new.triton):
        stale = ", ".join(sorted({entry.exercise for entry in (*runs, *texts)}))
        raise ValueError(f"the recorded runs of {stale} come from {old.source}: measure all lessons in one go to replace them")
    return dataclasses.replace(new, runs=_in_order(*runs, *new.runs), texts=_in_order(*texts, *new.texts))


def _in_order(*entries):
    return tuple(sorted(entries, key=lambda entry: (entry.lesson, entry.exercise)))  # stable: a curve stays in order


def record(names: Sequence[str] = (), out: Path | None = None) -> tuple[Path, list[str]]:
    """Measures the lessons or exercises of these names (all without one) and writes the record.

    names: "07", "07_vector_add", or "7.1" for one exercise. out: a folder for a record of its own, which keeps no old run.
    Returns the path of the record, and the errors of what could not be measured: the rest is recorded all the same, also
    when measuring is ended early.
    """
    exercises, whole = _sorted_out(names)
    chosen = {path: None for path in lessons(whole)} if whole or not exercises else {}
    for exercise in exercises:
        for path in lessons([exercise.partition(".")[0].zfill(2)]):
            if chosen.setdefault(path, set()) is not None:
                chosen[path].add(exercise)
    machine, errors = bench.this_machine(), []
    name = file_name(machine.device)
    runs, texts = len(bench.measured), len(bench.written)
    try:
        for path, bench.only in chosen.items():
            print(f"{path.stem} ...", flush=True)
            errors += run_lesson(path)
    finally:
        bench.only = None
        new = dataclasses.replace(machine, runs=tuple(bench.measured[runs:]), texts=tuple(bench.written[texts:]))
        path = bench.save(new if out else merge(bench.recorded(name), new), name, out)
    return path, errors


def _sorted_out(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names of exercises, and names of whole lessons."""
    return sorted({name for name in names if "." in name}), [name for name in names if "." not in name]


@dataclasses.dataclass(frozen=True)
class Change:
    """A ratio in two records: how many times as fast as the peer a provider of ours was, and is; what: where, and of whom."""

    what: str
    before: float
    after: float

    @property
    def lost(self) -> float:
        """The share that is gone: 0.1 where 2.0 has become 1.8; negative where the ratio has grown."""
        return 1 - self.after / self.before

    def __str__(self) -> str:
        return f"{self.what}: {self.before:.2f} -> {self.after:.2f} ({-100 * self.lost:+.0f} %)"


def compare(old: bench.Record, new: bench.Record, names: Sequence[str] = ()) -> tuple[list[Change], list[str], list[str]]:
    """The ratios of ours to each peer at each shape of the old record, and what the new record lacks of them.

    names: of the lessons or exercises that are compared, all without one.
    Returns the ratios, the measurements of ours that are missing, and the peers that are missing: those may be left out.
    Raises ValueError for records of two devices, whose ratios say nothing about each other, and where nothing is recorded.
    """
    if old.device != new.device:
        raise ValueError(f"the old runs are of {old.device or 'no device'}, the new ones of {new.device or 'no device'}")
    exercises, whole = _sorted_out(names)
    numbers = {name.partition("_")[0].zfill(2) for name in whole}
    timed = [run for run in old.runs if run.ms and (not names or run.exercise in exercises or run.lesson in numbers)]
    if not timed:
        raise ValueError("the old record has no run of these")
    changes, missing, absent = [], [], {}
    for exercise, op, dtype, metric, shape in dict.fromkeys((r.exercise, r.op, r.dtype, r.metric, r.shape) for r in timed):
        pair = [r.select(exercise=exercise, op=op, dtype=dtype, metric=metric, shape=shape) for r in (old, new)]
        where = f"{exercise} {op}, {' x '.join(map(str, shape))} {dtype}"
        before, after = ([run.provider for run in record.runs] for record in pair)
        if not after:
            missing.append(where)
            continue
        peers = [name for name in before if role(name)]
        ours = [name for name in before if name not in peers]
        missing += [f"{where}: {name}" for name in ours if name not in after]
        absent |= {f"{exercise} {op}: {name}": None for name in peers if name not in after}
        for one, peer in ((one, peer) for one in ours for peer in peers if {one, peer} <= set(after)):
            changes.append(Change(f"{where}: {one} / {peer}", *(record.ratio(one, peer, shape) for record in pair)))
    return changes, missing, list(absent)


def report(changes: Sequence[Change], missing: Sequence[str], absent: Sequence[str]) -> tuple[str, bool]:
    """What a comparison found, as text, worst first, and whether it is good: no ratio has fallen much, nothing is missing."""
    fallen = sorted((change for change in changes if change.lost > MOST_LOST), key=lambda change: -change.lost)
    lines = [f"fallen   {change}" for change in fallen]
    lines += [f"missing  {what}" for what in missing]
    lines += [f"no peer  {what}" for what in absent]
    lines += [f"risen    {change}" for change in changes if change.lost < -MOST_LOST]
    lines.append(
        f"{len(changes)} ratios compared; {len(fallen)} have fallen by more than {MOST_LOST:.0%}, "
        f"{len(missing)} measurements are missing."
    )
    return "\n".join(lines), bool(changes) and not fallen and not missing


def _compare(old: Path, new: Path, names: Sequence[str]) -> int:
    """Compares the record in the folder `new` with that of the same device in the folder `old`. Returns the exit status."""
    found = sorted(new.glob("*.json"))
    if not found:
        raise ValueError(f"there is no record in {new}: python -m classroom.bench --out {new}")
    good = True
    for path in found:
        before, after = (bench.recorded(path.stem, folder.resolve()) for folder in (old, new))
        print(f"old: {before.source}\nnew: {after.source}")
        text, right = report(*compare(before, after, names))
        print(text)
        good = good and right
    return 0 if good else 1


def main(arguments: Iterable[str] | None = None) -> int:
    """The command line: names of lessons, or none for all of them."""
    parser = argparse.ArgumentParser(
        prog="python -m classroom.bench", description="Measure the lessons on this GPU and record it."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="07, 07_vector_add, or an exercise, 7.1; all when left out")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write a record of its own there")
    parser.add_argument(
        "--compare", type=Path, nargs=2, metavar=("OLD", "NEW"), help="measure nothing: compare the records of two folders"
    )
    options = parser.parse_args(None if arguments is None else list(arguments))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended early: what was measured is recorded."))
    try:
        if options.compare:
            return _compare(*options.compare, options.names)
        path, errors = record(options.names, options.out)
    except (LessonError, RuntimeError, ValueError) as problem:
        print(f"Not {'compared' if options.compare else 'measured'}: {problem}", file=sys.stderr)
        return 1
    print(f"Recorded in {path}.")
    for error in errors:
        print(f"Not measured: {error}", file=sys.stderr)
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
