"""Gradescope: `python -m classroom gradescope 07` packs an autograder, and this module is what runs there.

    setup.sh            installs what grading needs, once
    run_autograder      grades one submission: `python -m classroom.gradescope /autograder`
    requirements.txt    what of the course's own requirements grading needs, PyTorch without CUDA
    README.md           for whoever uploads it
    course/             the solved lesson, `tiles` as students have it, and `classroom`

The submission is graded by the same command as a class, in a folder of its own; what comes of it is written to
results/results.json in Gradescope's form (https://gradescope-autograders.readthedocs.io/en/latest/specs/), one test an
exercise. When the grader fails and not the student, there is no score: Gradescope says so, and the instructor reads why
in what was printed.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Mapping
from pathlib import Path

from classroom import dist
from classroom.gradebook import lesson_info
from classroom.lesson import LessonError, lesson_paths, read, reference_of, write_if_changed

TEMPLATES = Path(__file__).parent / "autograder"
EXECUTABLE = {"setup.sh", "run_autograder"}
REQUIRED = ("torch", "triton", "numpy", "matplotlib", "ipykernel", "nbformat", "nbval", "pytest", "jinja2")
CPU_INDEX = "https://download.pytorch.org/whl/cpu"

SECONDS, CELL_SECONDS = 480, 120  # half a CPU is all that Gradescope gives by default, and it ends after 10 minutes


class NotHandedIn(Exception):
    """A submission without a notebook that could be graded; the message is for the student."""


# ---- packing


def pack(root: Path, name: str, out: Path | None = None) -> Path:
    """Write the autograder of one lesson, "07" or "07_vector_add", to `out` (default: dist/gradescope-07.zip); its path.

    Raises LessonError where there is no such lesson, or more than one.
    """
    paths = lesson_paths(root, [name])
    if len(paths) != 1:
        raise LessonError(f"{name} could be {' or '.join(path.stem for path in paths)}. Gradescope grades one lesson: name it.")
    try:
        data = archive(files(root, paths[0]), dist.timestamp(root))
    except dist.DistError as error:
        raise LessonError(str(error)) from error
    out = out or root / "dist" / f"gradescope-{paths[0].stem.partition('_')[0]}.zip"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(data)
    return out


def files(root: Path, lesson: Path) -> dict[str, bytes]:
    """The files of a lesson's autograder, by path. Raises LessonError, dist.DistError."""
    read(lesson)
    found = {name: (TEMPLATES / name).read_bytes() for name in EXECUTABLE}
    readme = (TEMPLATES / "README.md").read_text(encoding="utf-8")
    found["README.md"] = readme.replace("{lesson}", lesson.stem).encode()
    found["requirements.txt"] = requirements((root / "requirements.txt").read_text(encoding="utf-8")).encode()
    found[f"course/solutions/{lesson.name}"] = lesson.read_bytes()
    for name, data in dist.student_files(root, [lesson.stem]).items():
        if name.startswith("tiles/"):
            found[f"course/{name}"] = data
    here = Path(__file__).parent
    for path in here.rglob("*"):
        if path.is_file() and not {"__pycache__", "student", "autograder"} & set(path.relative_to(here).parts):
            found[f"course/classroom/{path.relative_to(here).as_posix()}"] = path.read_bytes()
    return found


def requirements(text: str) -> str:
    """Of the course's requirements those that grading needs; PyTorch for the CPU. Raises dist.DistError where one is missing."""
    lines = {re.split(r"[^\w-]", line)[0].lower(): line for line in text.splitlines() if line[:1].isalnum()}
    if missing := [name for name in REQUIRED if name not in lines]:
        raise dist.DistError(f"requirements.txt does not name {', '.join(missing)}, which grading needs: add what is missing.")
    lines["torch"] = re.sub(r"^(torch==[\d.]+)", r"\1+cpu", lines["torch"])
    return "\n".join([f"--extra-index-url {CPU_INDEX}", *(lines[name] for name in REQUIRED), ""])


def archive(contents: Mapping[str, bytes], seconds: int) -> bytes:
    """A zip file of files by path, the same bytes each time; all of one time, in seconds since 1970."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as stream:
        for name in sorted(contents):
            member = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
            member.create_system, member.compress_type = 3, zipfile.ZIP_DEFLATED
            member.external_attr = (0o100755 if name in EXECUTABLE else 0o100644) << 16
            stream.writestr(member, contents[name])
    return out.getvalue()


# ---- grading, where the archive was unpacked


def find_notebook(submission: Path, solution: Path) -> Path:
    """The notebook to grade in a folder: the only one, or the one that is called as the lesson. Raises NotHandedIn."""
    found = []
    for folder, folders, names in os.walk(submission):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        paths = [Path(folder, name) for name in sorted(names) if name.endswith(".ipynb") and not name.startswith(".")]
        found += [path for path in paths if path.is_file() and not path.is_symlink()]
    named = [path for path in found if path.name == solution.name]
    named = named or [path for path in found if reference_of(path, solution.parent) == solution]
    if len(found) == 1 or len(named) == 1:
        return (named or found)[0]
    if not found:
        raise NotHandedIn(f"There is no notebook in what you handed in. Hand in {solution.name}.")
    raise NotHandedIn(f"You handed in {len(found)} notebooks. Hand in one, or call the one that counts {solution.name}.")


def results(graded: Mapping, solution: Path) -> dict:
    """Gradescope's form of a result of the gradebook. Raises LessonError."""
    titles = lesson_info(solution).titles
    tests = [
        {
            "name": f"{exercise['exercise']}: {titles[exercise['exercise']]}",
            "name_format": "text",
            "score": exercise["score"],
            "max_score": exercise["max"],
            "status": "passed" if exercise["passed"] else "failed",
            "output": "passed" if exercise["passed"] else exercise["message"],
            "output_format": "text",
            "visibility": "visible",
        }
        for exercise in graded["exercises"]
    ]
    return {**_said(f"{graded['score']} of {graded['max']} points."), "tests": tests}


def _said(text: str) -> dict:
    return {"output": text, "output_format": "text"}


def grade(autograder: Path, root: Path, sandbox: str = "auto") -> dict:
    """Grade what lies in `autograder`/submission against the one lesson of the course in `root`; Gradescope's results.

    Raises whatever keeps the grader from grading: then there is no score.
    """
    from classroom import __main__ as command
    from classroom.sandbox import level, note

    (solution,) = lesson_paths(root)
    try:
        notebook = find_notebook(autograder / "submission", solution)
    except NotHandedIn as error:
        return {**_said(str(error)), "score": 0, "tests": []}
    if sandbox != "off" and level(sandbox) == "limits":
        raise RuntimeError(f"{note(sandbox)} The program of a student could read the solution: see setup.sh.")
    with tempfile.TemporaryDirectory(prefix="gradescope-") as folder:
        submissions, out = Path(folder, "submissions"), Path(folder, "gradebook")
        (submissions / "student").mkdir(parents=True)
        shutil.copyfile(notebook, submissions / "student" / solution.name)
        limits = ["--seconds", str(SECONDS), "--cell-seconds", str(CELL_SECONDS), "--sandbox", sandbox]
        command.main(["grade", str(submissions), "--out", str(out), "--root", str(root), "--jobs", "1", *limits])
        graded = json.loads((out / "results" / "student" / f"{solution.stem}.json").read_text(encoding="utf-8"))
    if graded.get("ungraded"):
        raise RuntimeError(graded["ungraded"])
    return results(graded, solution)


def main(arguments: list[str] | None = None) -> int:
    """Grade one submission and write its results.json; returns 1 when the grader failed, and says why on stdout."""
    parser = argparse.ArgumentParser(prog="python -m classroom.gradescope", description="Grade one submission on Gradescope.")
    parser.add_argument("autograder", type=Path, help="the folder with submission/; results/results.json is written there")
    parser.add_argument("--sandbox", choices=["auto", "on", "off"], default="auto", help="see pytest --help")
    options = parser.parse_args(arguments)
    failed = False
    try:
        found = grade(options.autograder, Path.cwd(), options.sandbox)
    except Exception:
        traceback.print_exc(file=sys.stdout)
        failed = True
        found = _said("Not graded: the autograder failed, and the fault is not yours. Please tell your instructor.")
    path = options.autograder / "results" / "results.json"
    write_if_changed(path, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
