"""`python -m classroom.bench`: run the measurements of the lessons on a GPU and record them.

`python -m classroom.bench 09` measures one lesson, `python -m classroom.bench 9.3 9.7` two exercises; all others keep their
recorded runs.

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
from tiles import bench


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


def record(names: Sequence[str] = ()) -> tuple[Path, list[str]]:
    """Measures the lessons or exercises of these names (all without one) and writes the record.

    names: "07", "07_vector_add", or "7.1" for one exercise.
    Returns the path of the record, and the errors of what could not be measured: the rest is recorded all the same, also
    when measuring is ended early.
    """
    exercises = {name for name in names if "." in name}
    whole = [name for name in names if name not in exercises]
    chosen = {path: None for path in lessons(whole)} if whole or not exercises else {}
    for exercise in sorted(exercises):
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
        path = bench.save(merge(bench.recorded(name), new), name)
    return path, errors


def main(arguments: Iterable[str] | None = None) -> int:
    """The command line: names of lessons, or none for all of them."""
    parser = argparse.ArgumentParser(
        prog="python -m classroom.bench", description="Measure the lessons on this GPU and record it."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="07, 07_vector_add, or an exercise, 7.1; all when left out")
    names = parser.parse_args(None if arguments is None else list(arguments)).names
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended early: what was measured is recorded."))
    try:
        path, errors = record(names)
    except (LessonError, RuntimeError, ValueError) as problem:
        print(f"Not measured: {problem}", file=sys.stderr)
        return 1
    print(f"Recorded in {path}.")
    for error in errors:
        print(f"Not measured: {error}", file=sys.stderr)
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
