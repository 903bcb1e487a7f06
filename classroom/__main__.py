"""`python -m classroom run | notebooks | grade`: see `python -m classroom --help`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from classroom.lesson import LessonError, find_root, lesson_paths


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
    grade.add_argument("--out", type=Path, required=True, metavar="DIR", help="where grades.csv and results/ go")
    grade.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="submissions graded at once (default: all cores)")
    grade.add_argument("--seconds", type=float, default=600, help="limit for one submission (default: 600)")
    grade.add_argument("--cell-seconds", type=float, default=60, help="limit for one cell (default: 60)")
    grade.add_argument("--sandbox", choices=["auto", "on", "off"], default="auto", help="see pytest --help")
    grade.set_defaults(command=_grade)

    for command in (run, notebooks, grade):
        command.add_argument("--root", type=Path, help="the course's folder (default: the nearest one that holds solutions/)")
    return parser


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
    from classroom.grade import grade_all

    return grade_all(
        options.submissions,
        options.out,
        solutions=find_root(options.root) / "solutions",
        jobs=options.jobs,
        seconds=options.seconds,
        cell_seconds=options.cell_seconds,
        sandbox=options.sandbox,
    )


if __name__ == "__main__":
    sys.exit(main())
