"""`python -m classroom run | notebooks | grade | gradescope`: see `python -m classroom --help`."""

from __future__ import annotations

import argparse
import functools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from classroom.lesson import LessonError, find_root, lesson_paths

if TYPE_CHECKING:
    from classroom.engines import Engine
    from classroom.gradebook import Policy


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status. Errors are told in a sentence, on stderr."""
    options = _parser().parse_args(arguments)
    try:
        return options.command(options)
    except LessonError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m classroom", description="For authors and graders of the course.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="execute solutions/ in place, in canonical form")
    run.add_argument("names", nargs="*", metavar="LESSON", help="05, or 05_online_softmax; all when left out")
    run.add_argument("--check", action="store_true", help="write nothing; fail when a run would change a file")
    run.add_argument("--seconds", type=int, default=300, help="limit for one cell (default: 300)")
    run.set_defaults(command=_run)

    notebooks = commands.add_parser("notebooks", help="derive the students' copies in notebooks/ from solutions/")
    notebooks.add_argument("names", nargs="*", metavar="LESSON", help="05, or 05_online_softmax; all when left out")
    notebooks.add_argument("--check", action="store_true", help="write nothing; fail when a copy is out of step")
    notebooks.add_argument("--force", action="store_true", help="overwrite copies that somebody has worked in")
    notebooks.set_defaults(command=_notebooks)

    grade = commands.add_parser("grade", help="grade submissions/STUDENT/LESSON.ipynb into a gradebook")
    grade.add_argument("submissions", type=Path, help="a folder with one folder a student; nothing is written there")
    grade.add_argument("--out", type=Path, required=True, metavar="DIR", help="where grades.csv and all else goes")
    grade.add_argument(
        "--regrade", nargs="?", const="", metavar="LESSON", help="grade anew what has not changed too: all, or one lesson"
    )
    grade.set_defaults(command=_grade)
    _add_limits(grade)
    _add_engines(grade)
    _add_policy(grade)

    gradescope = commands.add_parser("gradescope", help="pack a lesson's autograder for Gradescope")
    gradescope.add_argument("name", metavar="LESSON", help="07, or 07_vector_add")
    gradescope.add_argument("--out", type=Path, metavar="FILE", help="default: dist/gradescope-07.zip")
    gradescope.set_defaults(command=_gradescope)

    for command in (run, notebooks, grade, gradescope):
        command.add_argument("--root", type=Path, help="the course's folder (default: the nearest one that holds solutions/)")
    return parser


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("limits")
    group.add_argument("--seconds", type=float, default=600, help="for one submission (default: 600)")
    group.add_argument("--cell-seconds", type=float, default=30, help="for one cell (default: 30)")
    group.add_argument(
        "--sandbox", choices=["auto", "on", "off"], default="auto", help="run answers under bubblewrap (default: where it works)"
    )


def _add_engines(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where to grade")
    group.add_argument("--engine", choices=["local", "slurm", "dask"], default="local", help="default: local, this machine")
    group.add_argument(
        "--jobs", type=int, metavar="N", help="submissions graded at once (default: all cores; slurm: in one job, default 1)"
    )
    group.add_argument("--chunk", type=int, default=20, metavar="N", help="slurm: submissions in one job (default: 20)")
    group.add_argument("--gres", metavar="GRES", help="slurm: resources of each job, such as gpu:1")
    group.add_argument(
        "--sbatch",
        action="append",
        default=[],
        metavar="OPTION",
        help="slurm: more for sbatch, such as partition=short; repeatable",
    )
    group.add_argument(
        "--scheduler", metavar="ADDRESS", help="dask: a scheduler, such as tcp://node1:8786 (default: start one here)"
    )


def _add_policy(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how attempts become grades")
    group.add_argument("--keep", choices=["best", "last"], default="best", help="of several attempts (default: best)")
    group.add_argument(
        "--deadline", action="append", default=[], metavar="LESSON=TIME", help="such as 07=2026-11-02T23:59; repeatable"
    )
    group.add_argument("--deadlines", action="append", default=[], metavar="FILE", help="a CSV with the columns lesson, deadline")
    group.add_argument(
        "--late-per-day", type=float, default=0, metavar="FRACTION", help="of the score, lost for each day late (default: 0)"
    )
    group.add_argument("--roster", type=Path, metavar="FILE", help="a CSV with the columns student and, if you like, name")
    group.add_argument(
        "--anonymous", action="store_true", help="write ids in place of names; DIR/names.csv alone tells whose they are"
    )


def _run(options: argparse.Namespace) -> int:
    from classroom.execute import run

    changed = 0
    for path in lesson_paths(find_root(options.root), options.names):
        ((_, differs),) = run([path], options.seconds, write=not options.check)
        changed += differs
        print(
            f"{path.parent.name}/{path.name}: {'unchanged' if not differs else 'differs' if options.check else 'written'}",
            flush=True,
        )
    return 1 if options.check and changed else 0


def _notebooks(options: argparse.Namespace) -> int:
    from classroom.derive import check_notebooks, write_notebooks

    root = find_root(options.root)
    if options.check:
        problems = check_notebooks(root)
        print("\n".join(problems) or "notebooks/ is in step with solutions/.")
        return 1 if problems else 0
    modified = []
    for path, outcome in write_notebooks(root, options.names, options.force):
        print(f"{path.parent.name}/{path.name}: {outcome}")
        modified += [path.name] if outcome == "modified" else []
    if modified:
        raise LessonError(
            f"somebody has worked in {', '.join(modified)}, and git does not hold that work: left as it is.\n"
            "Keep it: copy the file elsewhere, or commit it. Throw it away: run again with --force (make notebooks FORCE=1)."
        )
    return 0


def _grade(options: argparse.Namespace) -> int:
    from classroom.grade import Settings, grade_all

    root = find_root(options.root)
    again = [] if options.regrade is None else lesson_paths(root, [options.regrade] if options.regrade else None)
    return grade_all(
        options.submissions,
        options.out,
        solutions=root / "solutions",
        engine=_engine(options),
        policy=_policy(options, root),
        settings=Settings(options.seconds, options.cell_seconds, options.sandbox),
        regrade={path.stem for path in again},
    )


def _gradescope(options: argparse.Namespace) -> int:
    from classroom.gradescope import pack

    path = pack(find_root(options.root), options.name, options.out)
    print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")
    return 0


def _engine(options: argparse.Namespace) -> Engine:
    from classroom import engines
    from classroom.sandbox import sandbox_problem

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if options.engine == "slurm":
        wishes = [f"--gres={options.gres}"] if options.gres else []
        wishes += [wish if wish.startswith("-") else f"--{wish}" for wish in options.sbatch]
        where = {"folder": options.out / ".slurm", "chunk": max(1, options.chunk), "options": wishes}
        return functools.partial(engines.slurm, jobs=max(1, options.jobs or 1), **where)
    if options.engine == "dask":
        return functools.partial(engines.dask, jobs=options.jobs or cores, scheduler=options.scheduler)
    if options.sandbox == "on" and (problem := sandbox_problem()):
        raise LessonError(f"--sandbox on: {problem}. Install bubblewrap, or grade with what there is: --sandbox auto.")
    return functools.partial(engines.local, jobs=options.jobs or cores)


def _policy(options: argparse.Namespace, root: Path) -> Policy:
    from classroom.gradebook import Policy, read_deadlines, read_roster

    return Policy(
        keep=options.keep,
        deadlines=read_deadlines([*options.deadlines, *options.deadline], root),
        late_per_day=options.late_per_day,
        roster=read_roster(options.roster) if options.roster else None,
        anonymous=options.anonymous,
    )


if __name__ == "__main__":
    sys.exit(main())
